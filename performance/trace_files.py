"""Files of nodegraft that one piece of work enters, and the calls between them.

``python performance/trace_files.py`` makes a small store and then does four things, each in a new
process: ``nodegraft add``, one prediction over HTTP, one benchmark job, and one ``Store.score``. It
prints how many files of ``src`` ran a function, and how many calls went from one file to another;
what an import runs does not count. ``--list add`` names the files.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

WORK = ("add", "predict", "job", "score")


class Trace:
    """Count of functions entered, by file of nodegraft."""

    def __init__(self, root: Path) -> None:
        self.is_on = True
        self.root, self.files, self.calls = f"{root}/", Counter[str](), 0

    def record(self, frame: FrameType, event: str, _: object) -> None:
        """Count a function that is entered, as a profiler."""
        code = frame.f_code
        if not self.is_on or event != "call" or not code.co_filename.startswith(self.root):
            return
        caller = frame.f_back.f_code if frame.f_back else None
        # Modules and classes, and the decorators that they call, run when they are imported.
        if not all(one.co_flags & CO_OPTIMIZED for one in (code, caller) if one is not None):
            return
        self.files[code.co_filename.removeprefix(self.root)] += 1
        place = caller.co_filename if caller else ""
        self.calls += place.startswith(self.root) and place != code.co_filename


def make_store(place: Path) -> None:
    """Create a store with three of four classes, and a version over which to predict."""
    from nodegraft.graph.block_model import BlockModel
    from nodegraft.store.store import Store

    graph, labels = BlockModel(nodes=240, classes=4, features=16, signal=2.0).draw()
    known = {name: graph.keys_of(rows)[:20] for name, rows in sorted(labels.items())[:3]}
    Store.init(place, graph, known).close()
    new = next(rows for name, rows in labels.items() if name not in known)
    keys = ",".join(str(key) for key in graph.keys_of(new)[:5])
    (place.parent / "keys").write_text(keys)


def add(place: Path, _: Trace) -> None:
    """Add a class on the command line."""
    from nodegraft.cli.app import app

    keys = (place.parent / "keys").read_text()
    app(["add", str(place), "--class", "new", "--nodes", keys], standalone_mode=False)


def predict(place: Path, trace: Trace) -> None:
    """Send one request to the service; starting it does not count."""
    from starlette.testclient import TestClient

    from nodegraft.service.app import application
    from nodegraft.service.settings import Settings

    trace.is_on = False
    settings = Settings(place, rate=0.0, failed_tokens=0.0)
    with TestClient(application(settings), base_url="http://localhost") as client:
        key = int((place.parent / "keys").read_text().split(",")[0])
        trace.is_on = True
        client.post("/v1/predict", json={"keys": [key]}).raise_for_status()
        trace.is_on = False


def job(_: Path, __: Trace) -> None:
    """Run one benchmark job on a synthetic graph."""
    from nodegraft.lab.benchmark.job import Job

    options = {"nodes": 600, "classes": 12}
    work = Job(dataset="synthetic", method="graft", dataset_options=options)
    loaded = work.load()
    work.run(loaded, work.stream(loaded))


def score(place: Path, _: Trace) -> None:
    """Measure held-out accuracy."""
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        store.score()


def trace_all(profile: object) -> None:
    """Trace this thread and those that start from now on."""
    import threading

    sys.setprofile(profile)  # type: ignore[arg-type]
    threading.setprofile(profile)  # type: ignore[arg-type]


def traced(name: str, place: Path) -> None:
    """Do one piece of work in this process, and print what it entered as JSON."""
    import nodegraft

    work: Callable[[Path, Trace], None] = globals()[name]
    trace = Trace(Path(nodegraft.__path__[0]))
    trace_all(trace.record)
    work(place, trace)
    trace_all(None)
    print("\n" + json.dumps({"files": trace.files, "calls": trace.calls}))


def main() -> None:
    """Print a table with a row for each piece of work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", choices=WORK, help="name the files of one piece of work")
    parser.add_argument("--traced", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.traced:
        traced(given.traced[0], Path(given.traced[1]))
        return
    print(f"{'work':10}{'files':>8}{'calls between files':>22}")
    for name in (given.list,) if given.list else WORK:
        with TemporaryDirectory() as folder:
            place = Path(folder, "store")
            make_store(place)
            command = [sys.executable, __file__, "--traced", name, str(place)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if run.returncode:
            sys.exit(run.stderr)
        found = json.loads(run.stdout.splitlines()[-1])
        print(f"{name:10}{len(found['files']):8,}{found['calls']:22,}")
        for file in sorted(found["files"]) if given.list else ():
            print(f"  {found['files'][file]:8,}  {file}")


if __name__ == "__main__":
    main()

"""Number of files of nodegraft that a task runs code of, and of calls between them.

``python -m performance.trace_files`` does four tasks, each with a small store in a new process:
``nodegraft add``, a prediction over HTTP, a benchmark job, and ``Store.score``. It prints how many
files of ``src`` ran a function, and how many calls went from one file to another, without the code
that imports run. ``--list add`` lists the files of a task.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

TASKS = ("add", "predict", "job", "score")


class Trace:
    """Count of function calls by file of nodegraft, and of calls between files."""

    def __init__(self, root: Path) -> None:
        self.is_on = True
        self.root, self.files, self.calls = f"{root}/", Counter[str](), 0

    def _in_import(self, frame: FrameType | None) -> bool:
        """Return whether the body of one of nodegraft's modules is among the callers of a frame."""
        while frame is not None:
            code = frame.f_code
            if code.co_name == "<module>" and code.co_filename.startswith(self.root):
                return True
            frame = frame.f_back
        return False

    def record(self, frame: FrameType, event: str, _: object) -> None:
        """Count a function call; called by the interpreter as a profile function."""
        code = frame.f_code
        if not self.is_on or event != "call" or not code.co_filename.startswith(self.root):
            return
        caller = frame.f_back.f_code if frame.f_back else None
        if self._in_import(frame):
            return
        self.files[code.co_filename.removeprefix(self.root)] += 1
        origin = caller.co_filename if caller else ""
        self.calls += origin.startswith(self.root) and origin != code.co_filename


def make_store(path: Path) -> None:
    """Create a store with three of four classes; write keys of the fourth to a file next to it."""
    from nodegraft.graph.block_model import BlockModel
    from nodegraft.store.store import Store

    graph, labels = BlockModel(nodes=240, classes=4, features=16, signal=2.0).draw()
    known = {name: graph.keys_of(rows)[:20] for name, rows in sorted(labels.items())[:3]}
    Store.init(path, graph, known).close()
    new = next(rows for name, rows in labels.items() if name not in known)
    keys = ",".join(str(key) for key in graph.keys_of(new)[:5])
    (path.parent / "keys").write_text(keys)


def add(path: Path, _: Trace) -> None:
    """Add a class on the command line."""
    from nodegraft.cli.app import app

    keys = (path.parent / "keys").read_text()
    app(["add", str(path), "--class", "new", "--nodes", keys], standalone_mode=False)


def predict(path: Path, trace: Trace) -> None:
    """Send a request to the service; its start does not count."""
    from starlette.testclient import TestClient

    from nodegraft.service.app import application
    from nodegraft.service.settings import Settings

    trace.is_on = False
    settings = Settings(path, rate=0.0, failed_tokens=0.0)
    with TestClient(application(settings), base_url="http://localhost") as client:
        key = int((path.parent / "keys").read_text().split(",")[0])
        trace.is_on = True
        client.post("/v1/predict", json={"keys": [key]}).raise_for_status()
        trace.is_on = False


def job(_: Path, __: Trace) -> None:
    """Run a benchmark job on a synthetic graph."""
    from nodegraft.lab.benchmark.job import Job

    options = {"nodes": 600, "classes": 12}
    work = Job(dataset="synthetic", method="graft", dataset_options=options)
    loaded = work.load()
    work.run(loaded, work.stream(loaded))


def score(path: Path, _: Trace) -> None:
    """Measure held-out accuracy."""
    from nodegraft.store.store import Store

    with Store.open(path) as store:
        store.score()


def trace_all(profile: object) -> None:
    """Set the profile function of this thread and of threads that start later; None for none."""
    import threading

    sys.setprofile(profile)  # type: ignore[arg-type]
    threading.setprofile(profile)  # type: ignore[arg-type]


def run_traced(name: str, path: Path) -> None:
    """Do a task in this process, and print its trace as JSON."""
    import nodegraft

    task: Callable[[Path, Trace], None] = globals()[name]
    trace = Trace(Path(nodegraft.__path__[0]))
    trace_all(trace.record)
    task(path, trace)
    trace_all(None)
    print("\n" + json.dumps({"files": trace.files, "calls": trace.calls}))


def main() -> None:
    """Print a row for each task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--list", choices=TASKS, help="list the files of this task")
    parser.add_argument("--traced", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.traced:
        run_traced(options.traced[0], Path(options.traced[1]))
        return
    print(f"{'task':10}{'files':>8}{'calls between files':>22}")
    for name in (options.list,) if options.list else TASKS:
        with TemporaryDirectory() as folder:
            path = Path(folder, "store")
            make_store(path)
            command = [sys.executable, __file__, "--traced", name, str(path)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if run.returncode:
            sys.exit(run.stderr)
        trace = json.loads(run.stdout.splitlines()[-1])
        print(f"{name:10}{len(trace['files']):8,}{trace['calls']:22,}")
        for file in sorted(trace["files"]) if options.list else ():
            print(f"  {trace['files'][file]:8,}  {file}")


if __name__ == "__main__":
    main()

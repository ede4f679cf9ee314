import json
import lzma
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nodegraft.cli.app import app
from tests.store.small import made

COMMAND = [sys.executable, "-c", "from nodegraft.cli.entry import main; main()"]
SMALL = ["--dataset", "synthetic", "--dataset-set", "nodes=300", "--dataset-set", "classes=8"]


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "120"},
        timeout=120,
        check=False,
    )


def invoke(*arguments: str) -> Result:
    """The command in this process: quicker, for what needs no process of its own."""
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "120"})


def test_run_shows_sessions_and_ends_with_the_numbers(tmp_path: Path) -> None:
    done = invoke("lab", "run", *SMALL, "--method", "sgc-mean", "--out", str(tmp_path))
    assert done.exit_code == 0, done.stderr
    for wanted in ("A0", "last session", "average", "PD", "RPD", "harmonic mean", "record:"):
        assert wanted in done.stdout
    (place,) = tmp_path.glob("*.json")
    assert str(place) in done.stdout


def test_json_goes_to_standard_output_alone(tmp_path: Path) -> None:
    told = ("--method", "sgc-mean", "--seed", "3", "--set", "hops=1", "--out", str(tmp_path))
    done = call("lab", "run", *SMALL, *told, "--json")
    found = json.loads(done.stdout)
    document = found["record"]
    assert (document["seed"], document["parameters"]["hops"]) == (3, 1)
    (place,) = tmp_path.glob("*.json")
    assert found["file"] == str(place)
    written = json.loads(place.read_text())
    assert written.pop("classes")
    assert written == document


def test_the_leaky_protocol_says_so_everywhere(tmp_path: Path) -> None:
    arguments = ("lab", "run", *SMALL, "--method", "sgc-mean", "--out", str(tmp_path))
    done = invoke(*arguments, "--protocol", "published", "--json")
    assert "leaky" in json.loads(done.stdout)["record"]["protocol"]
    shown = invoke(*arguments[:-1], str(tmp_path / "again"), "--protocol", "published")
    assert "leaky" in shown.stdout


def test_a_rehearsal_teaches_validation_classes_and_says_so(tmp_path: Path) -> None:
    more = ("--method", "sgc-mean", "--out", str(tmp_path), "--rehearse", "--json")
    document = json.loads(invoke("lab", "run", "--dataset", "synthetic", *more).stdout)["record"]
    assert document["protocol"] == "strict, rehearsal"
    assert document["setting"]["novel"] == 2
    assert document["sessions"][-1]["classes"] == 12


def test_progress_is_live_in_a_terminal(tmp_path: Path) -> None:
    # A step that ends between two refreshes of the display is not seen, so any of them will do,
    # and on a busy machine another run may be needed.
    texts = (_shown_in_a_terminal(tmp_path / str(attempt)) for attempt in range(3))
    text = next(text for text in texts if re.search(r"\w+: \d+ of \d+", text))
    assert re.search(r"\d/\d sessions|\d/\d", text)


def _shown_in_a_terminal(folder: Path) -> str:
    leader, follower = pty.openpty()
    arguments = ["lab", "run", *SMALL, "--method", "proto-gcn", "--out", str(folder)]
    with subprocess.Popen([*COMMAND, *arguments], stdout=follower, stderr=follower) as process:
        os.close(follower)
        seen = b""
        while True:
            try:
                seen += os.read(leader, 65536)
            except OSError:
                break
    os.close(leader)
    assert process.returncode == 0
    return seen.decode()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--dataset", "gento", "--method", "sgc-mean"], "Did you mean 'gentoo'?"),
        (["--dataset", "synthetic", "--method", "sgc"], "There is no method named 'sgc'"),
        ([*SMALL, "--method", "sgc-mean", "--set", "hopps=1"], "Did you mean 'hops'?"),
        ([*SMALL, "--method", "sgc-mean", "--set", "hops=x"], "must be a whole number"),
        ([*SMALL, "--method", "sgc-mean", "--set", "hops"], "must have the form NAME=VALUE"),
        ([*SMALL, "--method", "sgc-mean", "--set", "hops=-1"], "hops must be a whole number at"),
        ([*SMALL, "--method", "ranpac", "--set", "penalty=-1"], "penalty must be a number above 0"),
        ([*SMALL, "--method", "hag-meta", "--set", "tla=of"], "tla is one of off, set, class-axis"),
        ([*SMALL, "--method", "sgc-mean", "--shots", "900"], "ask for fewer shots"),
        ([*SMALL, "--method", "sgc-mean", "--shots", "0"], "shots must be a whole number at"),
        ([*SMALL, "--method", "sgc-mean", "--ways", "-2"], "ways must be a whole number at"),
        ([*SMALL, "--dataset-set", "homophily=2", "--method", "sgc-mean"], "at least 0 and at"),
        (
            [*SMALL, "--method", "sgc-mean", "--arrival", "late"],
            "must be one of 'growing', 'mixed'",
        ),
        (
            [*SMALL, "--method", "sgc-mean", "--protocol", "lax"],
            "must be one of 'strict', 'published'",
        ),
    ],
)
def test_errors_say_what_to_do(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    done = invoke("lab", "run", *arguments, "--out", str(tmp_path))
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_an_error_of_the_real_command_has_no_traceback(tmp_path: Path) -> None:
    done = call("lab", "info", "gentoo", "--data", str(tmp_path))
    assert done.returncode == 2
    assert "md5-cache.xz" in done.stderr
    assert str(tmp_path / "gentoo-packages") in done.stderr
    assert "Traceback" not in done.stderr


def test_a_place_that_cannot_be_written_is_told_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "runs")
    done = invoke("lab", "run", *SMALL, "--method", "sgc-mean", "--out", out)
    assert done.exit_code == 2
    assert f"{out} cannot be written to" in done.stderr
    assert "session" not in done.stdout


def test_the_version_and_a_reader_who_has_had_enough(tmp_path: Path) -> None:
    assert invoke("--version").stdout.startswith("nodegraft 0.")
    command = " ".join(shlex.quote(word) for word in [*COMMAND, "lab", "methods"])
    for head in ("head -n 1", "true"):
        done = subprocess.run(
            ["/bin/bash", "-c", f"set -o pipefail; {command} | {head}"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_help_needs_no_torch() -> None:
    blocked = (
        "import sys\n"
        "for name in ('torch', 'numpy', 'scipy', 'pyarrow', 'sklearn', 'sqlalchemy', 'fastapi',\n"
        "    'uvicorn'):\n"
        "    sys.modules[name] = None\n"
        "from nodegraft.cli.entry import main\n"
        "sys.argv = ['nodegraft', *{}]\n"
        "main()"
    )
    for arguments in (
        ["--help"],
        ["lab", "run", "--help"],
        ["lab", "bench", "--help"],
        ["--version"],
    ):
        code = blocked.format(arguments)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_a_store_of_graft_needs_no_torch(tmp_path: Path) -> None:
    store, new = made(tmp_path / "shop", method="graft")
    store.close()
    name, keys = next(iter(new.items()))
    nodes = ",".join(map(str, keys))
    program = (
        "import sys\n"
        "from nodegraft.cli.entry import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    assert 'torch' not in sys.modules\n"
    )
    shop = str(tmp_path / "shop")
    for arguments in (
        ["predict", shop, "--nodes", "1,2"],
        ["add", shop, "--class", name, "--nodes", nodes, "--promote"],
        ["suggest", shop],
    ):
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_check_holds_a_method_against_the_contract() -> None:
    done = invoke("lab", "check", "text-only", "--nodes", "200")
    assert done.exit_code == 0, done.stderr
    assert "ok  rows may come in any order" in done.stdout
    assert "ok  independent of query labels" in done.stdout


def test_lists_and_info(tmp_path: Path) -> None:
    assert "sgc-mean" in invoke("lab", "methods").stdout
    datasets = invoke("lab", "datasets", "--data", str(tmp_path)).stdout
    assert "missing: md5-cache.xz" in datasets
    described = invoke("lab", "info", "synthetic").stdout
    assert "2,000" in described
    assert "default setting: 6/4/2/8" in described
    assert "kind of edges" not in described


def test_info_has_a_row_for_each_kind_of_edges(tmp_path: Path) -> None:
    folder = tmp_path / "treebank-roles"
    folder.mkdir()
    nodes = "".join(f"{node}\t{node // 4}\t0\tan\n" for node in range(8))
    # Inside a class, across, one way and back; "coref" joins 4 and 5, of one class.
    edges = "0\t1\tnext\n1\t4\tnext\n4\t1\tnext\n2\t3\thead\n4\t5\tcoref\n"
    for name, text in (("nodes.tsv.xz", nodes), ("edges.tsv.xz", edges)):
        (folder / name).write_bytes(lzma.compress(text.encode()))
    (folder / "classes.tsv").write_text("0\t4\tdet\n1\t4\troot\n")
    arguments = ("lab", "info", "treebank-roles", "--data", str(tmp_path))
    done = CliRunner().invoke(
        app, [*arguments, "--dataset-set", "smallest_class=2"], env={"COLUMNS": "80"}
    )
    assert done.exit_code == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    start = lines.index("edge type edges directed weighted a class adjusted")
    assert lines[start + 2 : start + 5] == [
        "coref 1 no no 100.0 % 0.0 %",
        "head 1 no no 100.0 % 0.0 %",
        "next 2 yes no 50.0 % -33.3 %",
    ]
    assert max(map(len, done.stdout.splitlines()[start - 1 : start + 5])) <= 60


def test_tune_keeps_its_trials_beside_the_plan(tmp_path: Path) -> None:
    plan = tmp_path / "sgc-mean.toml"
    plan.write_text(
        'method = "sgc-mean"\ndatasets = ["synthetic"]\nseeds = [0]\ntrials = 2\n'
        'arrival = "with-class"\n'
        "[space]\nhops = [0, 1]\n"
    )
    to_run = invoke("lab", "tune", str(plan), "--dry-run")
    assert "2 jobs to run, 0 of 2 done" in to_run.stdout
    done = invoke("lab", "tune", str(plan))
    assert done.exit_code == 0, done.stderr
    assert "is at the edge of its list" in " ".join(done.stdout.split())
    assert "0 jobs to run, 2 of 2 done" in invoke("lab", "tune", str(plan), "--dry-run").stdout
    kept = json.loads(plan.with_suffix(".json").read_text())
    found = kept["datasets"]["synthetic"]
    assert len(found["trials"]) == 2
    assert f"hops={found['best']['parameters']['hops']}" in done.stdout

import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from nodegraft.cli.app import app

SUITE = """
arrival = "growing"
tables = ["comparison"]
figures = ["curves"]
datasets = ["synthetic"]
methods = [{ method = "sgc-mean" }, { method = "text-only" }]
"""


def invoke(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    return done.exit_code, done.output


def test_from_runs_and_a_map_to_a_page(tmp_path: Path) -> None:
    suite, runs, out = tmp_path / "suite.toml", tmp_path / "runs", tmp_path / "out"
    suite.write_text(SUITE)
    for method in ("sgc-mean", "text-only"):
        told = ("--dataset", "synthetic", "--method", method, "--out", str(runs))
        assert invoke("lab", "run", *told)[0] == 0
    told = ("--dataset", "synthetic", "--after", "1", "--out", str(runs / "maps"))
    code, output = invoke("lab", "map", *told, "--method", "sgc-mean", "--method", "text-only")
    assert code == 0, output
    code, output = invoke("lab", "report", str(runs), "--out", str(out), "--suites", str(suite))
    assert code == 0, output
    page = (out / "index.html").read_text()
    assert "Maps of node embeddings" in page
    assert "--method sgc-mean --method text-only --seed 0 --after 1 --data DIR" in page


def test_a_place_without_suites_is_an_error_that_helps(tmp_path: Path) -> None:
    small = ("--dataset-set", "nodes=300", "--dataset-set", "classes=8")
    assert invoke("lab", "run", "--dataset", "synthetic", *small, "--out", str(tmp_path))[0] == 0
    told = ("lab", "report", str(tmp_path), "--out", str(tmp_path), "--suites", "nowhere")
    code, output = invoke(*told)
    assert code == 2
    assert "--suites" in output


def test_without_matplotlib_the_report_says_what_to_install() -> None:
    without = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from nodegraft.cli.entry import main\n"
        "sys.argv = ['nodegraft', 'lab', 'report', 'runs', '--out', 'out']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.strip() == "Error: Drawing needs an extra: pip install 'nodegraft[plots]'"

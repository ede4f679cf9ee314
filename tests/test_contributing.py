"""The recipes of CONTRIBUTING.md, followed in a copy of the package: their code and tests run.

(.ci/plugin.py and tests/methods/test_third_method.py install the method as another package.)
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"

SUMMARY = """\
from nodegraft.evaluation.protocol import evaluate
from nodegraft.lab.datasets.templates.dataset import load_dataset
from nodegraft.model.registry import make_method


def test_the_metric_is_in_the_summary() -> None:
    result = evaluate(make_method("text-mean"), load_dataset("synthetic").stream())
    assert result.summary["worst_recall"] == min(result.sessions[-1].recall.values())
"""


def block(marker: str) -> str:
    """Return the code block that contains a marker."""
    blocks = re.findall(r"^( *)```python\n(.*?)^\1```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    (code,) = (dedent(code) for _, code in blocks if marker in code)
    return code


def edit(path: Path, before: str, after: str) -> None:
    """Replace the only occurrence of a text in a file."""
    text = path.read_text()
    assert text.count(before) == 1, (path, before)
    path.write_text(text.replace(before, after))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Follow the recipes in a copy of the package, and return the copy."""
    package = tmp_path / "src" / "nodegraft"
    shutil.copytree(ROOT / "src" / "nodegraft", package, ignore=shutil.ignore_patterns("__pyc*"))
    (package / "methods" / "text_mean.py").write_text(block("(Method)"))
    (package / "lab" / "datasets" / "dishes.py").write_text(block("(Dataset)"))
    (package / "service" / "routes" / "size.py").write_text(block('ROUTER.get("/size")'))
    with (package / "cli" / "commands" / "versions.py").open("a") as panel:
        panel.write(block("def authors").replace("COMMANDS = ", "COMMANDS |= "))
    with (package / "evaluation" / "metrics.py").open("a") as metrics:
        metrics.write(block("def worst_recall"))
    protocol = package / "evaluation" / "protocol.py"
    edit(protocol, "    performance_drop,\n", "    performance_drop,\n    worst_recall,\n")
    edit(protocol, '"first_accuracy":', f'{block("worst_recall(last")}"first_accuracy":')
    return package


def test_the_tests_of_the_recipes_pass(package: Path, tmp_path: Path) -> None:
    checks = indent(block("check_no_leaks("), "    ")
    markers = ("test_edges_", "test_dishes_", "test_versions_", "test_nodes_")
    tests = [*map(block, markers), f"def test_the_method_passes_all_checks():\n{checks}", SUMMARY]
    for number, code in enumerate(tests):
        (tmp_path / f"test_{number}.py").write_text(code)
    files = [*sorted(tmp_path.glob("test_*.py")), package / "evaluation" / "metrics.py"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        f"{ROOT}/pyproject.toml",
        f"--rootdir={tmp_path}",
    ]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-m", "not real_data", "-v", *map(str, files)],
        env=os.environ | {"PYTHONPATH": f"{package.parent}{os.pathsep}{ROOT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # One test has two cases: dense and sparse features.
    assert len(re.findall(r"test_\d.py.* PASSED", done.stdout)) == len(tests) + 1, done.stdout
    assert "metrics.worst_recall PASSED" in done.stdout, done.stdout

"""The method of CONTRIBUTING.md is one file of fewer than 50 lines, and works as a plug-in.

``examples/plugin`` has it as a package; a stage of the gate (``.ci/plugin.py``) installs that.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
MODULE = REPOSITORY / "examples" / "plugin" / "text_mean.py"


@pytest.fixture
def plugged_in(tmp_path: Path) -> dict[str, str]:
    """An environment in which the method of ``examples/plugin`` is installed as a plug-in."""
    (tmp_path / MODULE.name).write_text(MODULE.read_text())
    metadata = tmp_path / "text_mean-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: text-mean\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[nodegraft.methods]\ntext-mean = text_mean\n")
    return {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "120"}


def test_the_example_is_the_method_of_the_recipe() -> None:
    recipes = re.findall(r"```python\n(.*?)```", (REPOSITORY / "CONTRIBUTING.md").read_text(), re.S)
    (recipe,) = (code for code in recipes if "(Method)" in code)
    assert MODULE.read_text() == recipe
    assert len(recipe.splitlines()) < 50


def test_is_found_and_run_by_the_command(plugged_in: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from nodegraft.cli.entry import main; main()"]
    run = ["lab", "run", "--dataset", "synthetic", "--method", "text-mean", "--json"]
    done = subprocess.run(
        [*command, *run, "--out", str(tmp_path / "runs")],
        env=plugged_in,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    document = json.loads(done.stdout)["record"]
    assert document["method"] == "text-mean"
    assert document["summary"]["last_accuracy"] > 0.5

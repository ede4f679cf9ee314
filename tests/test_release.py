"""The files of a release: checked by their own tools, and installed by their hashes."""

import csv
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.slow_suite import slow

ROOT = Path(__file__).parents[1]
CORE = {"torch", "torch-geometric", "numpy", "scipy", "scikit-learn", "pyarrow", "safetensors"}

pytestmark = [slow, pytest.mark.xdist_group("release")]


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    # Where pip finds a CPU build of torch, uv shall find it too.
    links = os.environ.get("PIP_FIND_LINKS", "")
    return os.environ | ({"UV_FIND_LINKS": links} if links else {})


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """Everything that `.ci/release` makes of a copy of the checkout."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "README.md", "LICENSE", "constraints.txt"):
        shutil.copy(ROOT / name, copy)
    for name in (".ci", "src"):
        ignored = shutil.ignore_patterns("*.egg-info", "__pycache__")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    done = subprocess.run(
        [copy / ".ci" / "release", copy / "release", sys.executable],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout.count("PASSED") == 2  # twine: wheel and sdist
    return copy / "release"


def test_an_sdist_and_a_wheel_are_made(release: Path) -> None:
    names = sorted(path.name for path in (release / "dist").iterdir())
    own = version("nodegraft")
    assert names == [f"nodegraft-{own}-py3-none-any.whl", f"nodegraft-{own}.tar.gz"]


def test_pip_accepts_the_hashes(release: Path, environment: dict[str, str]) -> None:
    requirements = release / "requirements.txt"
    lines = requirements.read_text().splitlines()
    pinned = {line.partition("==")[0] for line in lines if not line.startswith((" ", "#"))}
    assert pinned >= CORE
    checked = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "-q"]
    checked += ["--require-hashes", "--only-binary=:all:"]
    subprocess.run([*checked, "-r", requirements], env=environment, check=True)
    wrong = release / "wrong.txt"
    wrong.write_text("safetensors==0.8.0 --hash=sha256:" + "0" * 64 + "\n")
    refused = subprocess.run(
        [*checked, "--no-deps", "-r", wrong], env=environment, capture_output=True, text=True
    )
    assert refused.returncode != 0
    assert "HASHES" in refused.stderr or "No matching distribution" in refused.stderr


def test_the_bill_of_materials_lists_what_is_installed(release: Path) -> None:
    document = json.loads((release / "sbom.cdx.json").read_text())
    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["name"] == "nodegraft"
    listed = {part["name"].lower().replace("_", "-"): part for part in document["components"]}
    assert {name: listed[name]["version"] for name in CORE} == {
        name: version(name) for name in CORE
    }


def test_every_package_of_the_core_has_a_licence(release: Path) -> None:
    with (release / "licences.csv").open(newline="") as file:
        rows = {
            row["Name"].lower().replace("_", "-"): row["License"] for row in csv.DictReader(file)
        }
    assert rows.keys() >= CORE
    assert not [name for name in CORE if rows[name] in ("", "UNKNOWN")]

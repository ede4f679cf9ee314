"""What README says about builds of torch, compared with what pip plans to install."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

ROOT = Path(__file__).parents[1]
TORCH = re.search(r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
PIP = (sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-")


def planned(*arguments: str, **settings: str) -> list[dict[str, Any]]:
    """Return what pip would install; skip the test, with pip's reason, where there is no plan.

    Args:
        settings: Environment variables; indexes and wheel folders of this machine are ignored.
    """
    own = {"PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"}
    environment = {name: value for name, value in os.environ.items() if name not in own}
    environment |= {"PIP_CONFIG_FILE": os.devnull, **settings}
    done = subprocess.run(
        [*PIP, *arguments], env=environment, cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"pip cannot make a plan here: {done.stderr.strip().splitlines()[-1]}")
    found: list[dict[str, Any]] = json.loads(done.stdout)["install"]
    return found


def size(part: dict[str, Any]) -> int:
    """Return the bytes of a planned download."""
    address = part["download_info"]["url"]
    assert address.startswith("https://")
    with urlopen(Request(address, method="HEAD"), timeout=60) as response:  # noqa: S310
        return int(response.headers["Content-Length"])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no CUDA build by default")
def test_the_default_index_gives_a_cuda_build_with_gigabytes() -> None:
    assert TORCH
    plan = planned("--ignore-installed", f"torch=={TORCH[1]}")
    names = {part["metadata"]["name"]: part for part in plan}
    nvidia = [part for name, part in names.items() if name.startswith("nvidia-")]
    assert "+cpu" not in names["torch"]["metadata"]["version"]
    assert len(nvidia) >= 10
    assert sum(map(size, nvidia)) > 1e9


@pytest.mark.slow
def test_the_index_of_cpu_builds_gives_one_without_cuda() -> None:
    assert TORCH
    index = os.environ.get("TORCH_INDEX")
    if not index:
        pytest.skip("give the index of CPU builds of torch as TORCH_INDEX, as for the Dockerfile")
    plan = planned("--ignore-installed", f"torch=={TORCH[1]}", PIP_INDEX_URL=index)
    names = [part["metadata"]["name"] for part in plan]
    assert "torch" in names
    assert [name for name in names if name.startswith("nvidia")] == []


def test_an_installed_cpu_build_is_not_replaced() -> None:
    if not version("torch").endswith("+cpu"):
        pytest.skip("the torch of this environment is no CPU build")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(wanted.startswith("torch") for wanted in project["dependencies"])
    wanted = [*project["dependencies"], *project["optional-dependencies"]["store"]]
    plan = planned(*(one for one in wanted if not one.startswith("nodegraft")), PIP_NO_INDEX="1")
    names = [part["metadata"]["name"].lower() for part in plan]
    assert [name for name in names if name.startswith(("torch", "nvidia"))] == []


@pytest.mark.parametrize(
    "page",
    ["README.md", "CONTRIBUTING.md", "docs/index.md", "docs/how-to/troubleshooting.md"],
)
def test_every_page_about_installing_says_the_same(page: str) -> None:
    text = " ".join((ROOT / page).read_text().split())
    assert re.search(r"(choose|prints the command for) \"CPU\"", text, re.IGNORECASE)
    assert "selector on the PyTorch site" in text

"""The wheel, and what works without its folder ``lab``."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.service.running import free_port

ROOT = Path(__file__).parents[1]
COMMAND = (sys.executable, "-c", "from nodegraft.cli.entry import main; main()")
TIMEOUT = 120.0


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel from a copy of the sources; setuptools is installed, so no network is used."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    ignored = shutil.ignore_patterns("*.egg-info", "__pycache__")
    shutil.copytree(ROOT / "src", copy / "src", ignore=ignored)
    build = "from setuptools.build_meta import build_wheel; build_wheel('.')"
    subprocess.run([sys.executable, "-c", build], cwd=copy, check=True, capture_output=True)
    (made,) = copy.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def without_lab(wheel: Path) -> dict[str, str]:
    """Return an environment in which the wheel is first on the path and has no ``lab``."""
    site = wheel.parent / "site"
    with ZipFile(wheel) as archive:
        archive.extractall(site)
    shutil.rmtree(site / "nodegraft" / "lab")
    return {**os.environ, "PYTHONPATH": str(site)}


def test_the_wheel_has_all_files_of_the_package(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("nodegraft/")}
    wanted = {
        file.relative_to(ROOT / "src").as_posix()
        for file in (ROOT / "src" / "nodegraft").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert names == wanted


def test_a_store_is_made_taught_and_served_without_lab(
    without_lab: dict[str, str], tmp_path: Path
) -> None:
    _write_tables(tmp_path)
    tables = ("--nodes", "nodes.parquet", "--edges", "edges.parquet", "--labels", "labels.parquet")
    output = run(
        without_lab,
        tmp_path,
        ["init", "shop", *tables, "--text", "title"],
        ["add", "shop", "--class", "lamp", "--nodes", "lamp-0,lamp-1,lamp-2", "--promote"],
        ["predict", "shop", "--nodes", "lamp-7", "--json"],
    )
    assert '"lamp"' in output
    port = free_port()
    command = [*COMMAND, "serve", "shop", "--port", str(port)]
    service = subprocess.Popen(
        command, env=without_lab, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        _wait_until_ready(port, service)
        assert b'"lamp"' in _send(port, "POST", "/v1/predict", {"keys": ["lamp-8"]})
    finally:
        service.terminate()
        service.wait(TIMEOUT)


def test_names_and_commands_of_lab_say_what_to_install(
    without_lab: dict[str, str], tmp_path: Path
) -> None:
    ask = "import nodegraft; print(nodegraft.__file__); nodegraft.load_dataset"
    done = subprocess.run(
        [sys.executable, "-c", ask], env=without_lab, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.startswith(without_lab["PYTHONPATH"])
    wanted = (
        "MissingExtraError: nodegraft.load_dataset needs an extra: pip install 'nodegraft[lab]'"
    )
    assert done.stderr.strip().endswith(wanted)
    for command in (["lab", "datasets"], ["example", "words"]):
        listed = subprocess.run(
            [*COMMAND, *command], env=without_lab, cwd=tmp_path, capture_output=True, text=True
        )
        assert listed.returncode == 2
        assert "needs an extra: pip install 'nodegraft[lab]'" in listed.stderr


def run(environment: dict[str, str], folder: Path, *commands: list[str]) -> str:
    """Run commands that must succeed, in one process; return their output."""
    code = f"""
from nodegraft.cli.app import app
for command in {list(commands)}:
    assert not app(command, standalone_mode=False), command
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _write_tables(folder: Path) -> None:
    """Write tables of three kinds of products; two kinds have labels."""
    kinds = ("shoe", "hat", "lamp")
    keys = [f"{kind}-{number}" for kind in kinds for number in range(12)]
    titles = [f"{key.partition('-')[0]} {key.partition('-')[0]}s shop" for key in keys]
    ends = [(f"{kind}-{n}", f"{kind}-{(n + 1) % 12}") for kind in kinds for n in range(12)]
    labelled = [key for key in keys if not key.startswith("lamp")]
    columns = {
        "nodes": {"key": keys, "title": titles},
        "edges": {"source": [a for a, _ in ends], "target": [b for _, b in ends]},
        "labels": {"key": labelled, "label": [key.partition("-")[0] for key in labelled]},
    }
    for name, table in columns.items():
        pa.parquet.write_table(pa.table(table), folder / f"{name}.parquet")


def _send(port: int, method: str, path: str, body: object = None) -> bytes:
    content = None if body is None else json.dumps(body)
    with closing(HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)) as connection:
        connection.request(method, path, content, {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.status == 200
        return response.read()


def _wait_until_ready(port: int, service: subprocess.Popen[bytes]) -> None:
    start = monotonic()
    while True:
        try:
            _send(port, "GET", "/readyz")
            return
        except OSError:
            assert service.poll() is None
            assert monotonic() - start < TIMEOUT
            sleep(0.1)

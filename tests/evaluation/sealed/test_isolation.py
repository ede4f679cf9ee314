"""What the sealed process can still reach, tried from inside."""

import subprocess
import sys
from pathlib import Path

import pytest

from nodegraft.evaluation.sealed.isolation import Isolation

PROBE = """
import os, socket, sys
from nodegraft.evaluation.sealed.isolation import isolate

isolation = isolate([sys.prefix, sys.base_prefix, *sys.path], sys.argv[3], [sys.argv[1]])
port = int(sys.argv[2])

def tries(step):
    try:
        step()
    except OSError:
        return "refused"
    return "done"

print(isolation)
print(tries(lambda: open(sys.argv[1] + "/labels.txt").read()))
print(tries(lambda: open(sys.argv[1] + "/written.txt", "w")))
print(tries(lambda: socket.create_connection(("127.0.0.1", port), timeout=2)))
print(tries(lambda: open(f"/proc/{os.getppid()}/environ").read()))
print(tries(lambda: open("/proc/self/status").read()))
print(tries(lambda: open(sys.argv[3] + "/written.txt", "w")))
"""


def probed(folder: Path) -> list[str]:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        command = [sys.executable, "-c", PROBE, str(folder / "data"), port, str(folder / "own")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "labels.txt").write_text("hats")
    return tmp_path


def test_files_network_and_other_processes_are_out_of_reach(folder: Path) -> None:
    said, *tried = probed(folder)
    if "OPEN" in said or "ALL FILES" in said:
        pytest.skip(f"the kernel does not permit it: {said}")
    assert said == "no network, reads only Python's folders"
    assert tried == ["refused", "refused", "refused", "refused", "done", "done"]


def test_a_folder_on_the_path_of_python_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python must be able to read this folder, so the result must not say that it cannot.
    import os

    inherited = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{folder / 'data'}{os.pathsep}{inherited}")
    said, read, *_ = probed(folder)
    assert "READS ALL FILES" in said
    assert read == "done"


def test_an_incomplete_isolation_says_why() -> None:
    shown = str(Isolation(network=False, files=True, reason="not permitted"))
    assert shown == "NETWORK IS OPEN, reads only Python's folders (not permitted)"
    assert not Isolation(network=False, files=True).complete

"""What is counted of workers that come and go."""

import os
import subprocess
import sys
from pathlib import Path

from nodegraft.service.observability import drop_dead_workers


def test_a_worker_that_is_gone_says_nothing_more(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    names = [f"gauge_livemin_{os.getpid()}.db", f"counter_{gone.pid}.db"]
    for name in (*names, f"gauge_livemin_{gone.pid}.db"):
        (tmp_path / name).touch()
    drop_dead_workers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(names)

import sys
import time
from pathlib import Path

import numpy as np
import pytest

from nodegraft.base import measure
from nodegraft.base.measure import Measurement

MEGABYTE = 1_000_000

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak")


def take(megabytes: int) -> None:
    np.ones(megabytes * MEGABYTE, dtype=np.uint8)


@linux
def test_a_large_allocation_is_seen_though_it_is_gone() -> None:
    with Measurement() as work:
        take(200)
    assert 190 * MEGABYTE < work.peak_bytes < 260 * MEGABYTE


@linux
def test_an_earlier_larger_peak_does_not_hide_a_later_one() -> None:
    take(400)
    with Measurement() as work:
        take(200)
    assert 190 * MEGABYTE < work.peak_bytes < 260 * MEGABYTE
    with Measurement() as idle:
        pass
    assert idle.peak_bytes < 10 * MEGABYTE


def test_seconds_are_those_of_the_block() -> None:
    with Measurement() as work:
        time.sleep(0.05)
    seconds = work.seconds
    time.sleep(0.01)
    assert work.seconds == seconds >= 0.05


def test_a_block_that_fails_is_measured_too() -> None:
    work = Measurement()
    with pytest.raises(KeyError), work:
        raise KeyError
    assert work.seconds > 0


def test_a_kernel_that_does_not_reset_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "_CLEAR_REFS", tmp_path / "no" / "such" / "file")
    with Measurement() as work:
        pass
    assert work.peak_bytes < 10 * MEGABYTE

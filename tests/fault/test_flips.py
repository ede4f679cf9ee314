"""One flipped bit in any file of a store: verification names the file, and no use of it crashes."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.fault.flips import SIDECAR, changes_no_row, drawn_flips, lived_in, tried

pytestmark = pytest.mark.xdist_group("flips")


@pytest.mark.parametrize(
    ("flips", "seed"), [(12, 1), pytest.param(100, 2, marks=pytest.mark.slow)], ids=["some", "all"]
)
@pytest.mark.parametrize("mapped", [False, True], ids=["memory", "mapped"])
def test_each_flip_is_named_and_none_crashes(
    mapped: bool, flips: int, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = lived_in(tmp_path, mapped)
    status, whole = tried(place, None, tmp_path / "whole", checked=True)
    assert (status, whole["named"]) == (0, [])
    assert all("refused" not in said and "traceback" not in said for said in whole["used"])
    counts: Counter[str] = Counter()
    for number, flip in enumerate(drawn_flips(place, flips, seed)):
        # Every other one as if its array were too large to be compared when it is mapped.
        checked = number % 2 == 0
        status, found = tried(place, flip, tmp_path / "tried", checked)
        assert status >= 0, f"{flip} ended by signal {-status}"
        assert status == 0, flip
        unused = changes_no_row(place, flip, tmp_path / "rows")
        assert unused or flip.file.removesuffix(SIDECAR) in found["named"], flip
        tracebacks = [said for said in found["used"] if "traceback" in said]
        assert not tracebacks, f"{flip}: {tracebacks[0]['traceback']}"
        refused = any("refused" in said for said in found["used"])
        same = found["used"] == whole["used"]
        outcome = "refused" if refused else "same results" if same else "other results"
        counts[f"{'unused space of store.db' if unused else outcome}, {checked=}"] += 1
    with capsys.disabled():
        kind = "mapped" if mapped else "in memory"
        sys.stdout.write(f"\n{flips} flips, {kind}: {dict(counts)}\n")

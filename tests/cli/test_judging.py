"""What `evaluate` and `card` show, and what `promote` leaves in a store."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nodegraft.analysis.own_labels.comparison import Evaluation, MethodResult
from nodegraft.analysis.own_labels.own_stream import make_plan
from nodegraft.cli.app import app
from nodegraft.evaluation.protocol import SessionResult, StreamResult
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.store.small import made


def call(*arguments: str, columns: int = 80) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": str(columns)})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store with a version that does not answer yet."""
    store, new = made(tmp_path / "shop")
    store.add(new, intent=Intent(override="tests"))
    store.close()
    return tmp_path / "shop"


def measured(*lasts: float) -> MethodResult:
    """A method by its accuracies in the last session, seed by seed."""
    seconds = {"seconds": lasts[0], "query_seconds": 0.0, "classes": 2}
    streams = []
    for last in lasts:
        sessions = [SessionResult.__new__(SessionResult) for _ in range(2)]
        for session, accuracy in zip(sessions, (1.0, last), strict=True):
            vars(session).update(seconds, macro_accuracy=accuracy)
        streams.append(StreamResult(tuple(sessions)))
    return MethodResult(f"at {lasts[0]}", tuple(streams))


def compared(*methods: MethodResult) -> str:
    return Evaluation(1, make_plan(dict.fromkeys("abcd", 10), 5), methods).advice


def test_the_advice_says_whether_a_lead_is_noise() -> None:
    clear = compared(measured(0.9, 0.8, 0.85), measured(0.5, 0.4, 0.46))
    assert clear.startswith("Use at 0.9: 39.7 ± ")
    assert clear.endswith(
        "points more accurate than at 0.5, the next best, which is more than noise."
    )
    close = compared(measured(0.9, 0.8, 0.85), measured(0.8, 0.9, 0.84))
    assert "which is within noise" in close
    assert close.startswith("No clear winner: at 0.9 or at 0.8. at 0.9 is ")
    assert "(--seeds 6). at 0.8 learns faster" in close
    assert "one seed cannot tell noise apart" in compared(measured(0.9), measured(0.5))
    assert compared(measured(0.9)).startswith("Only at 0.9 was measured")


def test_methods_are_compared_in_a_table_and_on_a_page(place: Path, tmp_path: Path) -> None:
    told = ("--method", "sgc-mean", "--method", "text-only", "--seeds", "2")
    done = call("evaluate", str(place), *told, "--out", str(tmp_path / "page"))
    assert done.exit_code == 0, done.output
    flat = " ".join(done.output.split())
    assert (
        "Version 2: 2 known classes; 2 new classes, 1 per session, 5 labels each; 2 seeds" in flat
    )
    assert "too few labels: class-04 (5), class-05 (5). A class needs 10" in flat
    assert re.search(r"sgc-mean +\d+\.\d ± ", done.output)
    page = (tmp_path / "page" / "index.html").read_text()
    numbers = json.loads((tmp_path / "page" / "evaluation.json").read_text())
    assert f"<h1>{numbers['advice'].partition(':')[0].partition('.')[0]}" in page
    assert numbers["advice"] in flat
    assert "Cost of new classes" in page
    assert "Excluded for too few labels: class-04 (5), class-05 (5)" in page
    assert f"nodegraft evaluate {place.name} --method sgc-mean --method text-only" in page
    assert str(place) not in page
    assert [one["method"] for one in numbers["methods"]] == ["sgc-mean", "text-only"]


def test_promoting_leaves_a_card_that_nobody_changes(place: Path) -> None:
    done = call("promote", str(place), "--note", "looks right", columns=300)
    assert done.exit_code == 0, done.output
    kept = place / "cards" / "version-2.md"
    assert done.output == f"Version 2 is live.\nModel card: {kept}\n"
    text = kept.read_text()
    assert "“looks right”" in text
    assert "](version-2-recall.svg)" in text
    assert kept.with_name("version-2-recall.svg").read_text().startswith("<?xml")
    assert call("rollback", str(place)).exit_code == 0
    assert call("promote", str(place), "--note", "again").exit_code == 0
    assert kept.read_text() == text


def test_a_card_that_cannot_be_written_does_not_undo_the_promotion(place: Path) -> None:
    (place / "cards").write_text("in the way")
    done = call("promote", str(place), columns=400)
    assert done.exit_code == 0, done.output
    assert "Version 2 is live." in done.output
    assert f"nodegraft card {place} --version 2" in done.output
    with Store.open(place) as store:
        assert store.live == 2
    assert call("card", str(place), "--out", str(place.parent / "CARD.md")).exit_code == 0
    assert (place.parent / "CARD.md").read_text().startswith("---\nlicense: unknown\n")
    assert (place.parent / "CARD-history.svg").exists()


def test_a_card_is_shown_and_written(place: Path, tmp_path: Path) -> None:
    done = call("card", str(place))
    assert done.exit_code == 0, done.output
    assert "# shop, version 1" in done.output
    assert "| class-00 | 16 | 4 |" in done.output
    assert "# shop, version 2" in call("card", str(place), "--version", "2").output


def test_without_matplotlib_a_card_has_its_tables(place: Path) -> None:
    without = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from nodegraft.cli.entry import main\n"
        f"sys.argv = ['nodegraft', 'promote', {str(place)!r}]\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = sorted(file.name for file in (place / "cards").iterdir())
    assert names == ["version-2.md", "version-2.md.hash"]
    assert "nodegraft[plots]" in (place / "cards" / "version-2.md").read_text()

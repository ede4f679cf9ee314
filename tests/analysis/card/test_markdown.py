"""The words of a model card."""

from dataclasses import replace

import pytest

from nodegraft.analysis.card.card import Card, ClassCard
from nodegraft.analysis.card.markdown import card_files, card_markdown, limits
from nodegraft.analysis.version import AccuracyCount
from nodegraft.store.intent import Intent
from tests.store.small import made

FIGURES = ("recall", "confusion", "calibration", "abstaining", "history")


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Card:
    store, new = made(tmp_path_factory.mktemp("card") / "store", method="graft")
    store.add(new, intent=Intent(note="a | b <i>*", author="anna_b", override="it is a test"))
    store.promote(intent=Intent(author="ben", note="looks right"))
    return store.card()


def test_the_head_is_yaml_that_a_hub_reads(card: Card) -> None:
    yaml = pytest.importorskip("yaml")
    _, head, _ = card_markdown(card, 'my "store": 1').split("---\n", 2)
    told = yaml.safe_load(head)
    assert (told["license"], told["metrics"]) == ("unknown", ["accuracy"])
    (model,) = told["model-index"]
    assert model["name"] == 'my "store": 1, version 2'
    (metric,) = model["results"][0]["metrics"]
    assert metric["value"] == pytest.approx(card.held_out.share, abs=1e-4)


def test_what_people_wrote_is_no_markup(card: Card) -> None:
    text = card_markdown(card, "shop")
    row = next(line for line in text.splitlines() if line.startswith("| 2 | add"))
    assert r"| a \| b \<i\>\*; override: it is a test | anna\_b |" in row
    assert "“looks right”" in text


def test_numbers_are_those_of_the_card(card: Card) -> None:
    text = card_markdown(card, "shop")
    assert f"**Held-out accuracy {100 * (card.held_out.share or 0):.1f} %**" in text
    assert "| class-05 | 5 | 0 | – | – | – | version 2 |" in text
    assert sum(line.startswith("| 0.") for line in text.splitlines()) == 6


def test_what_was_not_measured_is_said(card: Card) -> None:
    told = limits(card)
    assert told[0] == "Not measured, because no node is held out: class-04, class-05."
    assert told[1].startswith("Measured on fewer than 30 nodes")
    many = [ClassCard(f"c{number}", 1, 1, AccuracyCount(0, 0)) for number in range(10)]
    shown = limits(replace(card, classes=tuple(many)))[0]
    assert shown.endswith("c6, c7 and 2 more.")


def test_a_card_that_nothing_was_measured_of_says_so(card: Card) -> None:
    none = replace(card, held_out=AccuracyCount(0, 0), reliability=None, promotion=None)
    files = card_files(none, "shop", "version-2")
    assert list(files) == ["version-2.md"]
    text = files["version-2.md"]
    assert "so accuracy is not known" in text
    assert "This version was never live" in text
    assert "so it cannot abstain" in text
    assert "model-index" not in text


def test_the_picture_stands_beside_the_card_and_is_the_same_every_time(card: Card) -> None:
    files = card_files(card, "shop", "version-2")
    names = [f"version-2-{name}.svg" for name in FIGURES]
    assert list(files) == [*names, "version-2.md"]
    assert all(f"]({name})" in files["version-2.md"] for name in names)
    assert "held-out accuracy, %" in files["version-2-history.svg"]
    assert all(files[name].count("prefers-color-scheme: dark") == 1 for name in names)
    assert card_files(card, "shop", "version-2") == files


def test_without_a_picture_the_card_says_how_to_get_one(card: Card) -> None:
    text = card_markdown(card, "shop")
    assert "No figures" in text
    assert "nodegraft[plots]" in text

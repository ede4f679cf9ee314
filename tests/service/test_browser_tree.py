"""The class tree on the page, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from nodegraft.graph.block_model import BlockModel
from nodegraft.store.store import Store
from tests.service.browser import WIDER_THAN_THE_WINDOW, browser, found_faults, visited
from tests.service.running import running

# One browser for all tests of the page.
pytestmark = pytest.mark.xdist_group("browser")

TREE = {
    "class-01": "shoes & boots",
    "class-04": "shoes & boots",
    "class-00": "hats",
    "shoes & boots": "clothes",
    "hats": "clothes",
    "class-05": "class-03",
}
ORDER = [
    *("clothes", "hats", "class-00", "shoes & boots", "class-01", "class-04"),
    *("class-02", "class-03", "class-05", "class-06", "class-07"),
]


@pytest.fixture(scope="module")
def program() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store of eight classes, some predictions of which have little confidence."""
    graph, labels = BlockModel(nodes=240, classes=8, features=16, signal=0.6).draw()
    few = {name: graph.keys_of(np.sort(rows)[:10]) for name, rows in labels.items()}
    place = tmp_path / "tree"
    Store.init(place, graph, few, parents=TREE).close()
    return place


def names(page: Page) -> list[str | None]:
    rows = page.locator("#classes tr[data-class]")
    return [rows.nth(number).get_attribute("data-class") for number in range(rows.count())]


def test_the_tree_is_shown_changed_and_undone(program: Browser, place: Path) -> None:
    with running(place) as life, visited(program, life.port) as (page, told):
        rows = page.locator("#classes tr[data-class]")
        expect(rows).to_have_count(len(ORDER))
        assert names(page) == ORDER
        left = "all => all.map((own) => own.getBoundingClientRect().left)"
        indents = rows.locator("th .class").evaluate_all(left)
        levels = [round((own - indents[0]) / (indents[1] - indents[0])) for own in indents]
        assert levels == [0, 1, 2, 1, 2, 2, 0, 0, 1, 0, 0]
        expect(rows.first).to_contain_text("group of 3 classes · 24 labels")
        counts = {
            own["name"]: own["predicted"] for own in life.ask("GET", "/v1/summary")[1]["classes"]
        }
        total = sum(counts[name] for name in ("class-00", "class-01", "class-04"))
        expect(rows.first.locator("td").first).to_have_text(str(total))
        # Ancestors of a found class stay; an order by a column leaves the tree.
        page.get_by_label("Filter").fill("class-04")
        expect(page.locator("#class-count")).to_have_text("1 class of 8")
        assert names(page) == ["clothes", "shoes & boots", "class-04"]
        page.get_by_label("Filter").fill("")
        page.locator("#classes thead").get_by_role("button", name="class").click()
        expect(rows).to_have_count(8)
        expect(rows.nth(4)).to_contain_text("below shoes & boots")
        page.locator("#classes thead").get_by_role("button", name="class").click()
        page.locator("#classes thead").get_by_role("button", name="class").click()
        # Only a class outside of the branch is offered as its parent.
        page.get_by_role("button", name="shoes & boots", exact=True).click()
        expect(page.locator("#map-status")).to_contain_text("are predicted below shoes & boots")
        actions = page.locator("tr.actions")
        for name in ("Merge", "Show labels"):
            assert actions.get_by_role("button", name=name).count() == 0
        actions.get_by_role("button", name="Change parent").click()
        page.get_by_label("Parent of shoes & boots").fill("c")
        offered = page.get_by_role("option")
        expect(offered).to_have_text(
            ["clothes", *(f"class-0{last}" for last in (0, 2, 3, 5, 6, 7)), "New group “c”"]
        )
        assert found_faults(page) == []
        page.get_by_label("Parent of shoes & boots").fill("")
        page.keyboard.press("Enter")
        expect(page.locator("#change-title")).to_have_text(
            "Move shoes & boots to the top of the class tree"
        )
        expect(page.locator("#change-content")).to_contain_text("0 of 240 predictions would change")
        page.get_by_role("button", name="Make this change").click()
        expect(page.locator("#notice-text")).to_contain_text("Version 2 was made")
        expect(rows.nth(3)).not_to_contain_text("below clothes")
        page.locator("#notice").get_by_role("button", name="Undo").click()
        expect(page.locator("#notice-text")).to_contain_text("Version 3 was made")
        expect(rows.nth(3)).to_contain_text("below clothes")
        assert names(page) == ORDER
        page.set_viewport_size({"width": 390, "height": 844})
        assert not page.evaluate(WIDER_THAN_THE_WINDOW)
        assert told.complaints == []


def test_backed_off_predictions_and_changes_inside_branches(program: Browser, place: Path) -> None:
    with running(place) as life, visited(program, life.port) as (page, told):
        asked = {"keys": list(range(240)), "min_confidence": 0.9, "ignore_labels": True}
        rows = life.ask("POST", "/v1/predict", asked)[1]["predictions"]
        own = next(row for row in rows if row["reason"] == "ancestor")
        page.evaluate(f"location.hash = 'node={own['node']}'")
        content = page.locator("#node-content")
        expect(content.locator(".badge")).to_have_text(f"ancestor of {own['leaf']}")
        expect(content).to_contain_text(f"With enough confidence: {own['class']}")
        content.get_by_role("button", name=own["class"], exact=True).click()
        expect(page.locator("#classes tr.selected")).to_have_attribute("data-class", own["class"])
        abstained = next(row for row in rows if row["reason"] == "below_confidence")
        page.evaluate(f"location.hash = 'node={abstained['node']}'")
        expect(content).to_contain_text(f"predicted {abstained['leaf']}")
        expect(content.locator(".badge")).to_have_count(0)
        page.get_by_role("button", name="class-01", exact=True).first.click()
        page.get_by_role("button", name="Remove the class class-01").click()
        expect(page.locator("#change-content")).to_contain_text(
            "Changes inside a branch of the class tree: "
        )
        change = {"action": "remove", "names": ["class-01"], "dry_run": True}
        preview = life.ask("POST", "/v1/changes", change)[1]
        inside = preview["changes_inside"]
        assert inside
        rest = preview["predictions_changed"] - sum(inside.values())
        expect(page.locator("#change-content")).to_contain_text(f"other changes: {rest}.")
        assert told.complaints == []

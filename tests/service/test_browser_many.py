"""The page of a store with 500 classes, in a real browser."""

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from nodegraft.graph.block_model import BlockModel
from nodegraft.store.store import Store
from tests.service.browser import (
    WIDER_THAN_THE_WINDOW,
    Told,
    browser,
    found_faults,
    visited,
)
from tests.service.running import Running, running

# One store, one service and one browser for all of them.
pytestmark = pytest.mark.xdist_group("browser")

CLASSES = 500
COLOURS = """
(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const colour = data.slice(at, at + 3).join();
    seen.set(colour, (seen.get(colour) ?? 0) + 1);
  }
  return [...seen.values()].filter((count) => count > 100).length;
}
"""


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    place = tmp_path_factory.mktemp("many") / "blocks"
    graph, labels = BlockModel(nodes=1500, classes=CLASSES, features=32).draw()
    few = {name: graph.keys_of(np.sort(labels[name])[:2]) for name in labels}
    Store.init(place, graph, few).close()
    with running(place) as life:
        yield life


@pytest.fixture(scope="module")
def shared(life: Running) -> Iterator[tuple[Page, Told]]:
    with browser() as program, visited(program, life.port) as found:
        expect(found[0].locator("#classes tr[data-class]")).to_have_count(CLASSES)
        yield found


@pytest.fixture
def page(shared: tuple[Page, Told]) -> Iterator[Page]:
    """The page, which has nothing to complain about after each test."""
    yield shared[0]
    assert shared[1].complaints == []


def test_classes_are_filtered_sorted_and_linked(page: Page) -> None:
    rows = page.locator("#classes tr[data-class]")
    height = page.locator("#classes-list").bounding_box()
    assert height is not None
    assert height["height"] < 500
    page.get_by_label("Filter").fill("33")
    expect(page.locator("#class-count")).to_have_text("14 classes of 500")
    page.get_by_label("Filter").press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = rows.nth(1).get_attribute("data-class")
    assert page.url.endswith(f"#class={second}")
    page.get_by_label("Filter").fill("")
    nodes = page.locator("#classes thead").get_by_role("button", name="nodes")
    nodes.click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("nodes")
    counts = [
        int(text.replace(",", ""))
        for text in page.locator("#classes tr[data-class] td:nth-child(2)").all_inner_texts()
    ]
    assert counts == sorted(counts, reverse=True)
    page.get_by_role("button", name=str(second), exact=True).click()
    expect(page.locator("tr.actions")).to_have_count(0)


def test_exact_keys_come_first_and_pasted_keys_are_selected(page: Page) -> None:
    page.get_by_label("Words in key or text").fill("12")
    expect(page.locator("#found li").first).to_contain_text("12")
    found = page.locator("#found li a").all_inner_texts()
    # Prefixes come next, before keys that contain the digits.
    best = [12, *range(120, 130), *range(1200, 1300)]
    assert found == [str(key) for key in best][: len(found)]
    paste = """text => {
      const data = new DataTransfer();
      data.setData("text", text);
      const event = new ClipboardEvent("paste", { clipboardData: data, cancelable: true });
      document.getElementById("words").dispatchEvent(event);
    }"""
    page.evaluate(paste, "7\n8\t9, 99999")
    expect(page.locator("#found-status")).to_contain_text("Selected 3 pasted nodes.")
    expect(page.locator("#found-status")).to_contain_text("1 key not in the graph: 99999")
    expect(page.locator("#selected-title")).to_have_text("Selected nodes (3)")
    page.get_by_role("button", name="Clear").click()


def test_any_of_500_classes_is_found_by_typing(page: Page) -> None:
    card = page.locator("#suggestion")
    expect(card.locator(".offer")).to_have_count(9)
    card.focus()
    page.keyboard.press("/")
    page.keyboard.type("-417")
    expect(page.get_by_role("option").first).to_have_text("class-417")
    page.keyboard.press("Enter")
    expect(page.locator("#chosen li")).to_contain_text("→ class-417")
    page.keyboard.press("u")
    expect(page.locator("#chosen li")).to_have_count(0)


def test_the_map_is_coloured_zoomed_and_selects_with_a_lasso(page: Page) -> None:
    expect(page.locator("#map-status")).to_contain_text("1,500 nodes")
    canvas = page.locator("#map-canvas")
    canvas.scroll_into_view_if_needed()
    page.wait_for_function(f"({COLOURS})(document.getElementById('map-canvas')) > 8")
    canvas.focus()
    for key in ("+", "+", "ArrowLeft", "n"):
        page.keyboard.press(key)
    expect(page.locator("#node-title")).to_contain_text("Node ")
    page.get_by_role("button", name="Whole map").click()
    box = canvas.bounding_box()
    assert box is not None
    centre = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.get_by_role("button", name="Lasso").click()
    page.mouse.move(centre[0] - 60, centre[1] - 60)
    page.mouse.down()
    for dx, dy in ((60, -60), (60, 60), (-60, 60)):
        page.mouse.move(centre[0] + dx, centre[1] + dy, steps=4)
    page.mouse.up()
    expect(page.locator("#map-status")).to_contain_text("Selected ")
    expect(page.locator("#selected-title")).not_to_have_text("Selected nodes (0)")
    page.get_by_role("button", name="Lasso").click()
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="Select nodes in view").click()
    expect(page.locator("#selected-title")).to_have_text("Selected nodes (1500)")
    page.get_by_role("button", name="Clear").click()


def test_a_linked_node_is_explained(page: Page, life: Running) -> None:
    page.goto(f"http://localhost:{life.port}/#class=class-003&node=12")
    expect(page.locator("#node-title")).to_have_text("Node 12")
    for part in ("Most probable classes", "Signals", "contribute most", "Neighbours by edge type"):
        expect(page.locator("#node-content")).to_contain_text(part)
    page.locator("#node-content ul.nodes a").filter(has_not_text="12").first.click()
    expect(page.locator("#node-title")).not_to_have_text("Node 12")
    page.go_back()
    expect(page.locator("#node-title")).to_have_text("Node 12")


def test_everybody_can_use_500_classes(page: Page) -> None:
    assert found_faults(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(reduced_motion="reduce")
    page.emulate_media(color_scheme="dark")
    assert not page.evaluate(WIDER_THAN_THE_WINDOW)
    # All rows look alike: in this window some of them are enough.
    page.get_by_label("Filter").fill("33")
    assert found_faults(page) == []
    page.get_by_label("Filter").fill("")
    # Headers are not broken inside of a word.
    lines = "([cell]) => cell.offsetHeight / parseFloat(getComputedStyle(cell).lineHeight)"
    assert page.locator("#classes .sort", has_text="accuracy").evaluate_all(lines) < 2
    page.locator("#groups").scroll_into_view_if_needed()
    expect(page.locator("#groups-status")).to_contain_text("group")

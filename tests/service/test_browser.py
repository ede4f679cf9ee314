"""What people do on the page, done in a real browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pyarrow as pa
import pytest
from playwright.sync_api import Browser, Page, expect

from nodegraft.store.intent import Intent
from nodegraft.store.scope import Scope
from nodegraft.store.store import Store
from nodegraft.tables.read import read_tables
from tests.service.browser import (
    LONGEST,
    WIDER_THAN_THE_WINDOW,
    browser,
    found_faults,
    visited,
)
from tests.service.running import running
from tests.service.served import WORDS as KNOWN_WORDS
from tests.service.token_help import added

# One store for all of them.
pytestmark = pytest.mark.xdist_group("browser")

HOSTILE = "<img src=x onerror=alert(1)>"
WORDS = {**KNOWN_WORDS, "gloves": "finger palm knitted mitten"}
EACH, SHOWN = 20, 4
KEYS = [f"{name}-{number}" for name in WORDS for number in range(EACH)]
KEYS[2 * EACH] = HOSTILE
LIT = """
([canvas, place]) => {
  const pen = canvas.getContext("2d"), style = getComputedStyle(canvas);
  const wanted = document.createElement("canvas").getContext("2d");
  wanted.fillStyle = style.getPropertyValue(`--c${place}`);
  wanted.fillRect(0, 0, 1, 1);
  const [red, green, blue] = wanted.getImageData(0, 0, 1, 1).data;
  const all = pen.getImageData(0, 0, canvas.width, canvas.height).data;
  let count = 0;
  for (let at = 0; at < all.length; at += 4)
    if (all[at] === red && all[at + 1] === green && all[at + 2] === blue) count += 1;
  return count;
}
"""


@pytest.fixture(scope="module")
def unworn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that knows hats and shoes, and has gloves; one of them is called like markup."""
    place = tmp_path_factory.mktemp("page") / "wardrobe"
    texts = [f"{words} item{number % 7}" for words in WORDS.values() for number in range(EACH)]
    texts[2 * EACH] += " <script>alert(2)</script>"
    chains = [range(group * EACH, (group + 1) * EACH) for group in range(len(WORDS))]
    pairs = [(KEYS[one], KEYS[one + 1]) for chain in chains for one in chain[:-1]]
    edges = {"source": [one for one, _ in pairs], "target": [other for _, other in pairs]}
    read = read_tables(pa.table({"key": KEYS, "text": texts}), pa.table(edges), text="text")
    labels = {name: [f"{name}-{number}" for number in range(8)] for name in KNOWN_WORDS}
    Store.init(place, read.graph, labels, texts=read.texts, intent=Intent(author="tests")).close()
    return place


@pytest.fixture(scope="module")
def program() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def wardrobe(unworn: Path, tmp_path: Path) -> Path:
    """The same, of one's own."""
    place = tmp_path / "wardrobe"
    shutil.copytree(unworn, place)
    return place


def wait_until(page: Page, place: int, lit: bool) -> None:
    """Until pixels of the map have the colour of a class, or none has."""
    canvas, began = page.locator("#map-canvas").element_handle(), monotonic()
    while bool(page.evaluate(LIT, [canvas, place])) != lit:
        assert monotonic() - began < LONGEST / 1000
        page.wait_for_timeout(50)


def propose_gloves(page: Page, keys: list[str], name: str = "gloves") -> None:
    page.get_by_label("Words in key or text").fill("mitten")
    for key in keys:
        page.get_by_role("button", name=f"Select {key}", exact=True).click()
    page.get_by_label("Class: a known one").fill(name)
    page.get_by_label("Class: a known one").press("Escape")
    page.get_by_role("button", name=f"Add class {name} with").click()
    expect(page.locator("#change-content")).to_contain_text("would change")


def make_change(page: Page, outcome: str) -> None:
    if page.locator("#change-override-part").is_visible():
        page.get_by_label("Reason to apply the change").fill("a test")
    page.get_by_role("button", name="Make this change").click()
    expect(page.locator("#notice-text")).to_contain_text(outcome)


GLOVES = [HOSTILE, *(f"gloves-{number}" for number in range(1, SHOWN))]


def test_a_class_is_added_highlighted_and_undone(program: Browser, wardrobe: Path) -> None:
    with running(wardrobe) as life, visited(program, life.port) as (page, told):
        rows = page.locator("#classes tr[data-class]")
        expect(rows).to_have_count(2)
        expect(page.locator("#map-status")).to_contain_text("60 nodes")
        page.get_by_label("Promote my changes at once").check()
        propose_gloves(page, GLOVES)
        make_change(page, "Version 2 was made and is live.")
        expect(rows).to_have_count(3)
        expect(page.get_by_role("button", name="gloves", exact=True)).to_have_attribute(
            "aria-pressed", "true"
        )
        expect(page.locator("#map-status")).to_contain_text("are predicted gloves")
        assert page.url.endswith("#class=gloves")
        wait_until(page, 2, lit=True)
        page.locator("#notice").get_by_role("button", name="Undo").click()
        expect(page.locator("#notice-text")).to_contain_text("Version 3 was made and is live.")
        expect(rows).to_have_count(2)
        wait_until(page, 2, lit=False)
        assert page.locator("img, #found script").count() == 0
        assert told.complaints == []
        assert all(url.startswith(f"http://localhost:{life.port}/") for url in told.asked)


def test_similar_names_and_the_gate_end_in_no_refusal_loop(
    program: Browser, wardrobe: Path
) -> None:
    with running(wardrobe) as life, visited(program, life.port) as (page, _):
        page.set_viewport_size({"width": 400, "height": 900})
        for version, name in ((2, "x" * 200), (3, "Hats")):
            anyway = page.get_by_label("Use this name anyway")
            page.get_by_label("Words in key or text").fill("mitten")
            page.get_by_role("button", name=f"Select gloves-{version}", exact=True).click()
            page.get_by_label("Class: a known one").fill(name)
            page.get_by_label("Class: a known one").press("Escape")
            page.get_by_role("button", name=f"Add class {name} with 1 example").click()
            if name == "Hats":
                expect(page.locator("#change-status")).to_contain_text("differs from 'hats'")
                expect(page.locator("#change-form")).to_be_hidden()
                anyway.check()
            warning = page.locator("#change-content .warning").first
            expect(warning).to_contain_text("has only 1 example")
            assert not page.evaluate(WIDER_THAN_THE_WINDOW)
            make_change(page, f"Version {version} was made and waits")
            expect(page.locator("#review-title")).to_have_text(
                f"Version {version} waits for review"
            )
        page.get_by_text("Which predictions change").click()
        assert not page.evaluate(WIDER_THAN_THE_WINDOW)
        # Somebody else discards the version that this page shows.
        assert life.ask("POST", "/v1/versions/3:discard")[0] == 201
        page.get_by_role("button", name="Promote version 3").click()
        expect(page.locator("#review-status")).to_contain_text("was not promoted")
        assert life.ask("GET", "/v1/versions")[1]["live"] == 1


def test_labels_by_keys_for_any_class_and_a_new_one(program: Browser, wardrobe: Path) -> None:
    with running(wardrobe) as life, visited(program, life.port) as (page, told):
        card, chosen = page.locator("#suggestion"), page.locator("#chosen li")
        expect(card).to_contain_text("Suggested because")
        card.focus()
        page.keyboard.press("s")
        expect(page.locator("#labelling-status")).to_contain_text("Skipped")
        shown = card.locator("a").inner_text()
        page.keyboard.press("1")
        expect(chosen).to_contain_text(f"{shown} → hats")
        page.keyboard.press("9")
        expect(chosen).to_have_count(1)
        page.keyboard.press("u")
        expect(chosen).to_have_count(0)
        expect(card).to_contain_text(shown)
        page.keyboard.press("/")
        page.keyboard.type("sho")
        expect(page.get_by_role("option", name="shoes", exact=True)).to_be_visible()
        page.keyboard.press("Enter")
        expect(chosen).to_contain_text(f"{shown} → shoes")
        page.keyboard.press("n")
        page.keyboard.type("scarves")
        page.keyboard.press("Enter")
        expect(chosen.nth(1)).to_contain_text("scarves (new class)")
        expect(page.locator("#labelling-counter")).to_contain_text("2 labels chosen")
        page.get_by_role("button", name="Add 2 labels").click()
        # Known classes first, then the new one: each is previewed.
        expect(page.locator("#change-title")).to_have_text("Label shoes (1 node)")
        expect(page.locator("#change-content")).to_contain_text("would change")
        make_change(page, "Version 2 was made")
        expect(page.locator("#change-title")).to_have_text("Add scarves (1 node)")
        expect(page.locator("#change-content")).to_contain_text("would change")
        make_change(page, "Version 3 was made")
        expect(chosen).to_have_count(0)
        done = [entry["description"] for entry in life.ask("GET", "/v1/history")[1]["history"]]
        assert done[:2] == ["add scarves (1)", "label shoes (1)"]
        assert told.complaints == []


def test_a_candidate_is_reviewed_while_changes_continue(program: Browser, wardrobe: Path) -> None:
    with running(wardrobe) as life, visited(program, life.port) as (page, told):
        review, rows = page.locator("#review"), page.locator("#classes tr[data-class]")
        expect(rows).to_have_count(2)
        expect(review).to_be_hidden()
        page.get_by_label("Promote my changes at once").check()
        propose_gloves(page, GLOVES)
        # Somebody else makes a candidate meanwhile: one more press adds this change to it.
        assert life.ask("POST", "/v1/labels", {"labels": {"hats": ["hats-12"]}})[0] == 201
        page.get_by_label("Reason for the change, stored").fill("asked for by sales")
        page.get_by_role("button", name="Make this change").click()
        expect(page.locator("#change-status")).to_contain_text("press the button again")
        make_change(page, "Version 3 was made and waits for review. Version 1 is live.")
        for part in (
            "Version 3 waits",
            "Classes added: gloves",
            "asked for by sales",
            "label hats",
        ):
            expect(review).to_contain_text(part)
        expect(page.get_by_label("Promote my changes at once")).to_be_disabled()
        expect(rows).to_have_count(3)
        page.get_by_label("live version 1").check()
        expect(rows).to_have_count(2)
        expect(page.locator("#selection-form")).to_be_hidden()
        page.get_by_label("candidate version 3").check()
        expect(rows).to_have_count(3)
        page.get_by_role("button", name="Discard, back to version 1").click()
        expect(page.locator("#review-status")).to_contain_text("discard versions 2-3")
        expect(page.locator("#review-title")).to_be_focused()
        expect(rows).to_have_count(2)
        page.get_by_label("Promote my changes at once").uncheck()
        page.get_by_role("button", name="Undo version 4").click()
        expect(page.locator("#notice-text")).to_contain_text("Version 5 was made and waits")
        expect(review).to_contain_text("Classes added: gloves")
        page.get_by_role("button", name="Promote version 5").click()
        expect(page.locator("#review-status")).to_contain_text("all callers now get")
        expect(rows).to_have_count(3)
        # The browser notes the refusal, and nothing else.
        assert ["409" in text for text in told.complaints] == [True]


def test_classes_are_renamed_merged_removed_and_labels_moved(
    program: Browser, wardrobe: Path
) -> None:
    with running(wardrobe) as life, visited(program, life.port, "#class=hats") as (page, told):
        actions = page.locator("tr.actions")
        expect(actions).to_be_visible()
        actions.get_by_role("button", name="Show labels").click()
        expect(page.locator("#found-status")).to_have_text("8 nodes with the label hats.")
        page.get_by_role("button", name="Select hats-0", exact=True).click()
        page.get_by_label("Class: a known one").fill("shoes")
        page.get_by_role("option", name="shoes", exact=True).click()
        page.get_by_role("button", name="Move 1 label to shoes").click()
        expect(page.locator("#change-content")).to_contain_text("would change")
        make_change(page, "Version 2 was made")
        actions.get_by_role("button", name="Rename").click()
        page.get_by_label("New name of hats").fill("headwear")
        page.keyboard.press("Enter")
        make_change(page, "Version 3 was made")
        page.get_by_role("button", name="headwear", exact=True).click()
        actions.get_by_role("button", name="Merge").click()
        page.get_by_label("Merge headwear into").fill("sh")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        make_change(page, "Version 4 was made")
        expect(page.locator("#classes tr[data-class]")).to_have_count(1)
        page.locator("#notice").get_by_role("button", name="Undo").click()
        expect(page.locator("#classes tr[data-class]")).to_have_count(2)
        page.get_by_role("button", name="headwear", exact=True).click()
        actions.get_by_role("button", name="Remove the class headwear").click()
        make_change(page, "Version 6 was made")
        done = [entry["action"] for entry in life.ask("GET", "/v1/history")[1]["history"]]
        assert done == ["remove", "undo", "merge", "rename", "relabel", "init"]
        assert told.complaints == []


def test_everybody_can_use_it(program: Browser, wardrobe: Path) -> None:
    with running(wardrobe) as life, visited(program, life.port) as (page, _):
        expect(page.locator("#map-status")).to_contain_text("60 nodes")
        propose_gloves(page, GLOVES)
        assert found_faults(page) == []
        make_change(page, "Version 2")
        other = {"labels": {"hats": ["hats-12"]}, "note": "by somebody else"}
        assert life.ask("POST", "/v1/labels", other)[0] == 201
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.locator("#review-content")).to_contain_text("by somebody else")
        page.get_by_role("button", name="hats", exact=True).first.click()
        page.get_by_role("button", name="Next node").click()
        expect(page.locator("#node-content")).to_contain_text("Neighbours by edge type")
        node, labelling = (
            page.locator(f"#{panel}").bounding_box() for panel in ("node", "labelling")
        )
        assert node is not None
        assert labelling is not None
        assert labelling["x"] < node["x"]
        page.get_by_label("Any class").fill("s")
        assert found_faults(page) == []
        page.set_viewport_size({"width": 360, "height": 740})
        # Colours that are on their way to others are not looked at.
        page.emulate_media(reduced_motion="reduce")
        page.emulate_media(color_scheme="dark")
        assert found_faults(page) == []
        assert not page.evaluate(WIDER_THAN_THE_WINDOW)


def test_a_token_opens_both_pages_and_says_what_one_may_do(
    program: Browser, wardrobe: Path
) -> None:
    secret = added(wardrobe, "anna", Scope.READ)
    with running(wardrobe) as life, visited(program, life.port) as (page, told):
        page.get_by_label("API token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#sign-in-status")).to_contain_text("A valid API token is needed")
        page.get_by_label("API token").fill(secret)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#caller-name")).to_have_text("Signed in as anna (scope read).")
        expect(page.locator("#selection-blocked")).to_contain_text("scope teach is needed")
        expect(page.locator("#changes li")).not_to_have_count(0)
        for name in ("Undo", "Promote", "Discard", "Rename", "Start a class"):
            assert page.get_by_role("button", name=name).count() == 0
        kept = page.evaluate("[Object.values(sessionStorage), localStorage.length]")
        assert kept == [[secret], 0]
        complaints = len(told.complaints)
        page.get_by_role("link", name="HTTP API").click()
        page.locator("#operations-versions-versions_v1_versions_get button").first.click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute").click()
        expect(page.locator(".live-responses-table tbody .response-col_status")).to_contain_text(
            "200"
        )
        assert len(told.complaints) == complaints
        page.get_by_role("link", name="Labelling page").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("API token")).to_be_focused()
        assert page.evaluate("sessionStorage.length") == 0

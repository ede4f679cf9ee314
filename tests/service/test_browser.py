"""What people do on the page, done in a real browser."""

import shutil
from pathlib import Path
from time import monotonic
from typing import Any

import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from nodegraft.store.access.access import Scope
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.tables.read import read_tables
from tests.service.browser import LONGEST, opened
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


WIDER_THAN_THE_WINDOW = "document.documentElement.scrollWidth > innerWidth"


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


def found_faults(page: Page) -> list[Any]:
    """What keeps people from using the page who do not see it, or have no mouse."""
    violations = Axe().run(page).response["violations"]
    return [
        (one["id"], [node["target"] for node in one["nodes"]])
        for one in violations
        if one["impact"] in ("serious", "critical")
    ]


def teach_gloves(page: Page) -> None:
    page.get_by_label("Class name").fill("gloves")
    page.get_by_label("Find examples by words").fill("mitten")
    page.get_by_role("button", name=f"Example {HOSTILE}").click()
    for number in range(1, SHOWN):
        page.get_by_role("button", name=f"Example gloves-{number}", exact=True).click()
    page.get_by_role("button", name="Preview the change").click()
    expect(page.locator("#preview-content")).to_contain_text("would change")
    expect(page.locator("#preview-content tbody tr").first).to_contain_text("gloves")


def test_a_class_is_taught_lights_up_and_is_undone(wardrobe: Path) -> None:
    with running(wardrobe) as life, opened(life.port) as (page, told):
        rows = page.locator("#classes tbody tr")
        expect(rows).to_have_count(2)
        expect(page.locator("#map-status")).to_contain_text("60 nodes")
        page.get_by_label("Promote my changes at once").check()
        teach_gloves(page)
        # Whoever changes an example looks again before saying yes.
        page.get_by_role("button", name="Remove gloves-3").click()
        expect(page.get_by_role("button", name="Add the class")).to_be_hidden()
        page.get_by_role("button", name="Example gloves-3", exact=True).click()
        page.get_by_role("button", name="Preview the change").click()
        page.get_by_role("button", name="Add the class").click()
        expect(page.locator("#new-class-status")).to_have_text("Version 2 was made and is live.")
        expect(rows).to_have_count(3)
        expect(page.get_by_role("button", name="gloves", exact=True)).to_have_attribute(
            "aria-pressed", "true"
        )
        expect(page.locator("#map-status")).to_contain_text("are predicted gloves")
        wait_until(page, 2, lit=True)
        page.get_by_role("button", name="Undo version 2").click()
        expect(page.locator("#history-status")).to_have_text("Version 3 was made and is live.")
        expect(rows).to_have_count(2)
        wait_until(page, 2, lit=False)
        assert page.locator("img, #found script").count() == 0
        assert told.complaints == []
        assert all(url.startswith(f"http://localhost:{life.port}/") for url in told.asked)


def test_a_preview_warns_of_a_class_of_one_example(wardrobe: Path) -> None:
    with running(wardrobe) as life, opened(life.port) as (page, told):
        page.get_by_label("Class name").fill("gloves")
        page.get_by_label("Find examples by words").fill("mitten")
        page.get_by_role("button", name="Example gloves-1", exact=True).click()
        page.get_by_role("button", name="Preview the change").click()
        warning = page.locator("#preview-content .warning")
        expect(warning).to_contain_text("Warning: Class 'gloves' has only 1 example")
        page.get_by_role("button", name="Add the class").click()
        expect(page.locator("#new-class-status")).to_contain_text("has only 1 example")
        assert told.complaints == []


def test_long_and_similar_names_can_be_taught_and_reviewed(wardrobe: Path) -> None:
    with running(wardrobe) as life, opened(life.port) as (page, _):
        page.set_viewport_size({"width": 400, "height": 900})
        anyway = page.get_by_label("Use this name anyway")
        expect(anyway).to_be_hidden()
        for version, name in ((2, "x" * 200), (3, "Hats")):
            page.get_by_label("Class name").fill(name)
            page.get_by_label("Find examples by words").fill("mitten")
            button = page.get_by_role("button", name=f"Example gloves-{version}", exact=True)
            button.click()
            page.get_by_role("button", name="Preview the change").click()
            if name == "Hats":
                expect(page.locator("#new-class-status")).to_contain_text("differs from 'hats'")
                expect(page.locator("#preview")).to_be_hidden()
                anyway.check()
                page.get_by_role("button", name="Preview the change").click()
            expect(page.locator("#preview-content")).to_contain_text(name)
            assert not page.evaluate(WIDER_THAN_THE_WINDOW)
            if not page.locator("#override-part").is_hidden():
                page.get_by_label("Reason to apply the change").fill("a test")
            page.get_by_role("button", name="Add the class").click()
            expect(page.locator("#review-title")).to_have_text(
                f"Version {version} waits for review"
            )
        expect(anyway).to_be_hidden()
        expect(page.locator("#review-content .warning").first).to_contain_text("has only 1 example")
        page.get_by_text("Which predictions change").click()
        expect(page.locator("#suggestion")).to_contain_text("confidence")
        assert not page.evaluate(WIDER_THAN_THE_WINDOW)
        # Somebody else discards the version that this page shows.
        assert life.ask("POST", "/v1/versions/3:discard")[0] == 201
        page.get_by_role("button", name="Promote version 3").first.click()
        expect(page.locator("#review-status")).to_contain_text("was not promoted")
        assert life.ask("GET", "/v1/versions")[1]["live"] == 1


def test_labels_by_one_key_each(wardrobe: Path) -> None:
    with running(wardrobe) as life, opened(life.port) as (page, told):
        card = page.locator("#suggestion")
        expect(card).to_contain_text("confidence")
        card.focus()
        page.keyboard.press("s")
        expect(page.locator("#labelling-status")).to_contain_text("Skipped")
        shown = card.locator("strong").inner_text()
        page.keyboard.press("1")
        expect(page.locator("#chosen li")).to_contain_text(f"{shown} → hats")
        page.keyboard.press("9")
        expect(page.locator("#chosen li")).to_have_count(1)
        page.get_by_role("button", name="Add 1 label").click()
        expect(page.locator("#labelling-status")).to_contain_text("Version 2 was made")
        assert life.ask("GET", "/v1/history")[1]["history"][0]["description"] == "label hats (1)"
        assert told.complaints == []


def test_a_candidate_is_reviewed_while_teaching_continues(wardrobe: Path) -> None:
    with running(wardrobe) as life, opened(life.port) as (page, told):
        review, rows = page.locator("#review"), page.locator("#classes tbody tr")
        expect(rows).to_have_count(2)
        expect(review).to_be_hidden()
        expect(page.get_by_label("Promote my changes at once")).not_to_be_checked()
        teach_gloves(page)
        page.get_by_label("Reason for the change, stored").fill("asked for by sales")
        page.get_by_role("button", name="Add the class").click()
        expect(page.locator("#new-class-status")).to_have_text(
            "Version 2 was made and waits for review. Version 1 is live."
        )
        for part in ("Version 2 waits", "Classes added: gloves", "local", "asked for by sales"):
            expect(review).to_contain_text(part)
        expect(page.locator("#review-content")).to_contain_text("of 60 predictions would change")
        expect(page.get_by_label("Promote my changes at once")).to_be_disabled()
        # The page shows the candidate, and its new class can be given to nodes.
        expect(rows).to_have_count(3)
        expect(page.locator("#suggestion .offer").nth(2)).to_contain_text("gloves")
        page.locator("#suggestion").focus()
        page.keyboard.press("3")
        expect(page.locator("#chosen li")).to_contain_text("→ gloves")
        page.get_by_role("button", name="Add 1 label").click()
        expect(page.locator("#labelling-status")).to_contain_text("Version 3 was made and waits")
        expect(review).to_contain_text("label gloves (1)")
        page.get_by_label("live version 1").check()
        expect(rows).to_have_count(2)
        expect(page.locator("#new-class-form")).to_be_hidden()
        page.locator("#new-class").get_by_role("button", name="Show version 3").click()
        expect(rows).to_have_count(3)
        page.get_by_role("button", name="Undo version 3").click()
        expect(page.locator("#history-status")).to_contain_text("Version 4 was made and waits")
        page.get_by_role("button", name="Discard, back to version 1").click()
        expect(page.locator("#review-status")).to_contain_text("discard versions 2-4")
        expect(page.locator("#review-title")).to_be_focused()
        expect(rows).to_have_count(2)
        page.get_by_role("button", name="Undo version 5").click()
        expect(page.locator("#history-status")).to_contain_text("Version 6 was made and waits")
        page.get_by_role("button", name="Promote version 6").first.click()
        expect(page.locator("#review-title")).to_have_text("Version 6 is live")
        expect(rows).to_have_count(3)
        assert told.complaints == []


def test_a_candidate_that_somebody_else_made_is_shown_and_built_upon(wardrobe: Path) -> None:
    with running(wardrobe) as life, opened(life.port) as (page, _):
        expect(page.locator("#classes tbody tr")).to_have_count(2)
        page.get_by_label("Promote my changes at once").check()
        teach_gloves(page)
        other = {"labels": {"hats": ["hats-12"]}}
        assert life.ask("POST", "/v1/labels", other)[0] == 201
        page.get_by_role("button", name="Add the class").click()
        expect(page.locator("#new-class-status")).to_contain_text("press the button again")
        expect(page.locator("#review")).to_contain_text("label hats (1)")
        page.get_by_role("button", name="Add the class").click()
        expect(page.locator("#new-class-status")).to_contain_text("Version 3 was made and waits")
        expect(page.locator("#review")).to_contain_text("add gloves (4)")


def test_everybody_can_use_it(wardrobe: Path) -> None:
    with running(wardrobe) as life, opened(life.port) as (page, _):
        expect(page.locator("#map-status")).to_contain_text("60 nodes")
        teach_gloves(page)
        other = {"labels": {"hats": ["hats-12"]}, "note": "by somebody else"}
        assert life.ask("POST", "/v1/labels", other)[0] == 201
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.locator("#review-content")).to_contain_text("by somebody else")
        page.get_by_role("button", name="hats", exact=True).first.click()
        page.get_by_role("button", name="Next node").click()
        expect(page.locator("#map-node")).to_contain_text("known")
        assert found_faults(page) == []
        page.set_viewport_size({"width": 360, "height": 740})
        # Colours that are on their way to others are not looked at.
        page.emulate_media(reduced_motion="reduce")
        page.emulate_media(color_scheme="dark")
        assert found_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_token_is_asked_for_and_says_what_one_may_do(wardrobe: Path) -> None:
    secret = added(wardrobe, "anna", Scope.READ)
    with running(wardrobe) as life, opened(life.port) as (page, _):
        page.get_by_label("API token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#sign-in-status")).to_contain_text("A valid API token is needed")
        page.get_by_label("API token").fill(secret)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#caller-name")).to_have_text("Signed in as anna (scope read).")
        expect(page.locator("#new-class-blocked")).to_contain_text("needs the scope teach")
        expect(page.locator("#changes li")).not_to_have_count(0)
        for name in ("Undo", "Promote", "Discard", "Preview the change"):
            assert page.get_by_role("button", name=name).count() == 0
        kept = page.evaluate("[Object.values(sessionStorage), localStorage.length]")
        assert kept == [[secret], 0]
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("API token")).to_be_focused()
        assert page.evaluate("sessionStorage.length") == 0

"""Draw docs/how-to/serve-page.png: the page with a candidate version that waits for review.

Run ``python -m tests.service.picture STORE PICTURE`` on a store made by ``nodegraft example words``
and the ``nodegraft init`` that it prints; the store gets one more version.
"""

import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect

from tests.service.browser import opened
from tests.service.running import running

LESSON = {
    "classes": {"feeling": ["joy", "anger", "fear", "hope", "shame"]},
    "note": "asked for by the editors",
}


def draw(store: Path, picture: Path) -> None:
    """Teach a store a class without promoting it, and draw its page."""
    with running(store) as life:
        assert life.ask("POST", "/v1/classes", LESSON)[0] == 201
        with opened(life.port) as (page, _):
            page.set_viewport_size({"width": 1280, "height": 1340})
            expect(page.locator("#review-content")).to_contain_text("would change")
            expect(page.locator("#map-tools")).to_be_visible()
            page.evaluate("location.hash = 'class=feeling&node=envy'")
            page.get_by_label("Words in key or text").fill("coin")
            expect(page.locator("#found li")).not_to_have_count(0)
            expect(page.locator("#node-content")).to_contain_text("Neighbours by edge type")
            expect(page.locator("#suggestion .offer")).not_to_have_count(0)
            page.evaluate("scrollTo(0, 0); document.activeElement.blur()")
            page.screenshot(path=picture)
    # A third of the size; this method keeps the colours of the classes apart.
    drawn = Image.open(picture).convert("RGB")
    drawn.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        picture, optimize=True
    )


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))

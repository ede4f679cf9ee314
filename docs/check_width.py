"""Fail if a code block of the built pages is clipped in a window 1,280 pixels wide.

python -m docs.check_width docs/_build
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

CLIPPED = """() => [...document.querySelectorAll("article pre")]
    .filter(block => block.scrollWidth > block.clientWidth + 1)
    .map(block => block.innerText.split("\\n")[0])"""


def main(folder: Path) -> None:
    """Open every page and report clipped blocks.

    Args:
        folder: The built pages.
    """
    browser_program = shutil.which("chromium") or shutil.which("google-chrome")
    found: list[str] = []
    pages = sorted(folder.rglob("*.html"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program, args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": 1280, "height": 900})
        for page in pages:
            window.goto(page.absolute().as_uri())
            blocks = window.evaluate(CLIPPED)
            found += [f"{page.relative_to(folder)}: {first_line}" for first_line in blocks]
        browser.close()
    if found or not pages:
        sys.exit("\n".join(["Clipped code blocks:", *found]) if found else f"No pages in {folder}")
    print(f"{len(pages)} pages, no clipped code block")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

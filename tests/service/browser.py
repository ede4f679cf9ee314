"""The page in a real browser, without a window."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
LONGEST = 60_000
expect.set_options(timeout=LONGEST)


def program() -> str:
    """Where a browser is."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return found
    if os.environ.get("CI") == "true":
        pytest.fail("Chromium is required and not installed")
    pytest.skip("Chromium is not installed")


class Told:
    """What a page asked for, and what its console says."""

    def __init__(self, page: Page) -> None:
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._noted)
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def _noted(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)


@contextmanager
def opened(port: int) -> Iterator[tuple[Page, Told]]:
    """The page of a service that listens, and what is told about it."""
    # Root has no sandbox.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=arguments)
        try:
            page = browser.new_page()
            page.set_default_timeout(LONGEST)
            told = Told(page)
            page.goto(f"http://localhost:{port}/")
            yield page, told
        finally:
            browser.close()

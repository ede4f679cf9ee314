"""The page in a real browser, without a window."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

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
def browser() -> Iterator[Browser]:
    """A browser, which many pages share."""
    # Root has no sandbox.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program(), args=arguments)
        try:
            yield started
        finally:
            started.close()


@contextmanager
def visited(program: Browser, port: int, path: str = "") -> Iterator[tuple[Page, Told]]:
    """A page of a service in a tab of its own, and what is told about it."""
    context = program.new_context()
    try:
        page = context.new_page()
        page.set_default_timeout(LONGEST)
        told = Told(page)
        page.goto(f"http://localhost:{port}/{path}")
        yield page, told
    finally:
        context.close()


@contextmanager
def opened(port: int) -> Iterator[tuple[Page, Told]]:
    """The page of a service that listens, in a browser of its own."""
    with browser() as program, visited(program, port) as found:
        yield found


WIDER_THAN_THE_WINDOW = "document.documentElement.scrollWidth > innerWidth"


def found_faults(page: Page) -> list[Any]:
    """What keeps people from using the page who do not see it, or have no mouse."""
    violations = Axe().run(page).response["violations"]
    return [
        (one["id"], [node["target"] for node in one["nodes"]])
        for one in violations
        if one["impact"] in ("serious", "critical")
    ]

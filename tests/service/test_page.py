"""The files of the page: whole, their own, and harmless."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nodegraft.service.auth.limits import MAX_KEYS
from nodegraft.service.routes.page import PAGE_FILES as FILES
from nodegraft.store.scope import Scope
from tests.service.served import asked
from tests.service.token_help import added

MARKUP = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "srcdoc")
"""What would make markup of the name of a node."""


@pytest.fixture
def client(shop: Path) -> Iterator[TestClient]:
    """Of a service that nobody may ask without a token."""
    added(shop, "ci", Scope.READ)
    with asked(shop) as client:
        yield client


@pytest.mark.parametrize("path", FILES)
def test_files_hold_no_data_and_need_no_token(path: str, client: TestClient) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.content == FILES[path].read_bytes()
    assert answer.headers["content-security-policy"].startswith("default-src 'self';")
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/page", "/page/", "/index.html", "/page/index.html", "/page/../tokens.json"]
)
def test_no_other_path_is_open(path: str, client: TestClient) -> None:
    assert client.get(path).status_code == 401


OWN = {url: path for url, path in FILES.items() if path.parent.name == "page"}
"""Files that are written here; Swagger UI is another project's."""


def test_the_page_asks_nobody_else_and_makes_no_markup() -> None:
    for path in OWN.values():
        content = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"^\s*// .*$", "", content, flags=re.MULTILINE), path.name
        assert not any(word in content for word in MARKUP), path.name


@pytest.mark.parametrize("url", ["/", "/docs"])
def test_a_page_has_no_script_and_no_style_of_its_own(url: str) -> None:
    page = FILES[url].read_text(encoding="utf-8")
    assert re.findall(r"<script[^>]*>[^<]", page) == []
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=", page) == []


def test_every_file_is_asked_for_by_another_one() -> None:
    content = "".join(path.read_text(encoding="utf-8") for path in OWN.values())
    for path in FILES:
        assert path == "/" or path.rpartition("/")[2] in content


def test_the_page_accepts_as_many_pasted_keys_as_the_service() -> None:
    script = FILES["/page/selection.js"].read_text(encoding="utf-8")
    assert re.findall(r"\bPASTED = ([0-9_]+)", script) == [f"{MAX_KEYS:_}"]


def test_swagger_ui_comes_with_its_licence() -> None:
    folder = FILES["/page/swagger-ui-bundle.js"].parent
    assert "Apache License" in (folder / "LICENSE").read_text(encoding="utf-8")
    assert (folder / "NOTICE").read_text(encoding="utf-8").startswith("swagger-ui")
    assert (folder / "swagger-ui-bundle.js.LICENSE.txt").is_file()

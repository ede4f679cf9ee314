import importlib
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from nodegraft.base.errors import NodegraftError, PluginWarning, UnknownNameError
from nodegraft.base.registry import Registry

BASE = """
from abc import ABC, abstractmethod
class Plant(ABC):
    name: str
class Tree(Plant):
    name = "tree"
    @abstractmethod
    def grow(self): ...
"""
OAK = """
from {package}.base import Plant, Tree
class Oak(Tree):
    name = "oak"
    def grow(self): ...
class Nameless(Plant): ...
"""


class Garden:
    """A package of plants, and distributions that plug into it, on the import path."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.package = folder, f"plants_{uuid4().hex}"
        self.write(f"{self.package}/__init__.py", "")
        self.write(f"{self.package}/base.py", BASE)
        self.write(f"{self.package}/oak.py", OAK)

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(text.replace("{package}", self.package))

    def plug_in(self, *points: str) -> None:
        info = f"{self.package}_more-1.0.dist-info"
        self.write(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {info}\nVersion: 1.0\n")
        self.write(f"{info}/entry_points.txt", "\n".join([f"[{self.package}]", *points]))

    def registry(self) -> Registry[Any]:
        base = importlib.import_module(f"{self.package}.base").Plant
        return Registry("plant", self.package, base)


@pytest.fixture
def garden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Garden:
    monkeypatch.syspath_prepend(tmp_path)
    return Garden(tmp_path)


def test_concrete_classes_with_a_name_are_found(garden: Garden) -> None:
    registry = garden.registry()
    assert registry.names() == ["oak"]
    assert registry.get("oak").__name__ == "Oak"


def test_one_more_file_is_one_more_name(garden: Garden) -> None:
    garden.write(f"{garden.package}/elm.py", OAK.replace("Oak", "Elm").replace("oak", "elm"))
    assert garden.registry().names() == ["elm", "oak"]


def test_two_of_one_name_are_refused(garden: Garden) -> None:
    garden.write(f"{garden.package}/other.py", OAK)
    with pytest.raises(NodegraftError, match=r"Two plants are named 'oak': .*\.oak and .*\.other"):
        garden.registry().names()


def test_an_unknown_name_gets_the_closest_one_offered(garden: Garden) -> None:
    with pytest.raises(UnknownNameError, match=r"no plant named 'oac'\. Did you mean 'oak'\?"):
        garden.registry().get("oac")
    with pytest.raises(UnknownNameError, match=r"no plant named 'pebble'\. Known: oak\."):
        garden.registry().get("pebble")


def test_classes_and_modules_plug_in(garden: Garden) -> None:
    garden.write("elms.py", OAK.replace("Oak", "Elm").replace("oak", "elm"))
    garden.write("firs.py", OAK.replace("Oak", "Fir").replace("oak", "fir"))
    garden.plug_in("elm = elms:Elm", "firs = firs", f"again = {garden.package}.oak:Oak")
    assert garden.registry().names() == ["elm", "fir", "oak"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:Elm", r"'elm' \(no_such_module:Elm\) was left out: No module named"),
        ("broken:Elm", r"'elm' \(broken:Elm\) was left out: out of order"),
        ("os:getcwd", r"'elm' \(os:getcwd\) was left out: not a plant"),
        ("pathlib:Path", r"was left out: not a plant"),
        ("{package}.oak:Nameless", r"was left out: not a plant"),
    ],
)
def test_a_plug_in_that_fails_is_left_out_with_a_warning(
    garden: Garden, value: str, message: str
) -> None:
    garden.write("broken.py", "raise RuntimeError('out of order')")
    garden.plug_in(f"elm = {value}")
    with pytest.warns(PluginWarning, match=message):
        assert garden.registry().names() == ["oak"]

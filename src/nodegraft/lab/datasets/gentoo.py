"""Gentoo: source packages of a Linux distribution, joined by dependencies."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.graph.graph import Graph
from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.readers import read_lines, read_stanzas
from nodegraft.lab.datasets.templates.text_graph import (
    WORDS_NOTE,
    TextNode,
    in_large_classes,
    text_graph,
)
from nodegraft.streams.setting import Setting

CACHE, LONG = "md5-cache.xz", "longdescription.tsv.xz"
# Field -> kind of its links: what building, running and later running needs.
FIELDS = {"DEPEND": "build", "RDEPEND": "run", "PDEPEND": "later"}
KINDS = dict.fromkeys(FIELDS.values(), True)
# These only stand for packages of other categories.
STAND_INS = ("virtual", "java-virtuals")

_VERSION = re.compile(r"-\d+(\.\d+)*[a-z]?(_(alpha|beta|pre|rc|p)\d*)*(-r\d+)?\*?$")


@dataclass(kw_only=True)
class Gentoo(Dataset):
    """Packages, words of their descriptions, 133 categories."""

    smallest_class: PositiveInt = 20
    """Categories with fewer packages are left out."""

    hub_degree: PositiveInt | None = 300
    """A few compilers and build tools are named by thousands: every link of a package with more
    than so many is left out, and the package stays. None keeps all."""

    name: ClassVar[str] = "gentoo"
    summary: ClassVar[str] = "source packages joined by dependencies, hubs cut; many small classes"
    citation: ClassVar[str] = "Gentoo Foundation, package tree of 11 August 2015 (GPL-2)"
    folders: ClassVar[tuple[str, ...]] = ("gentoo-packages",)
    required_files: ClassVar[tuple[str, ...]] = (CACHE, LONG)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Category is the class, and therefore no part of the features."""
        packages = read_packages(files[CACHE], files[LONG])
        large = in_large_classes(packages, self.smallest_class, STAND_INS)
        graph, labels = text_graph(large, KINDS)
        notes = [WORDS_NOTE]
        if self.hub_degree is not None:
            graph, note = without_hubs(graph, self.hub_degree)
            notes.append(note)
        setting = Setting(base=37, pseudo_novel=40, validation=6, novel=50, ways=5, shots=5)
        return LoadedDataset(self.name, graph, labels, setting, notes=tuple(notes))


def read_packages(cache: Path, long: Path) -> list[TextNode]:
    """One node a package: the union of what its versions say."""
    links: dict[str, dict[str, set[str]]] = {}
    # Keys of a dictionary, because versions mostly repeat the same sentence.
    texts: dict[str, dict[str, None]] = {}
    for stanza in read_stanzas(cache):
        package = stanza["Package"]
        texts.setdefault(package, {})[stanza.get("DESCRIPTION", "")] = None
        tokens = links.setdefault(package, {kind: set() for kind in KINDS})
        for field, kind in FIELDS.items():
            tokens[kind].update(stanza.get(field, "").split())
    for line in read_lines(long):
        package, _, text = line.partition("\t")
        texts.setdefault(package, {})[text] = None
    return [
        TextNode(
            package,
            package.partition("/")[0],
            " ".join(texts[package]),
            {kind: _wanted(some) for kind, some in tokens.items()},
        )
        for package, tokens in links.items()
    ]


def _wanted(tokens: Iterable[str]) -> set[str]:
    return {name for token in tokens if (name := package_in(token))}


def package_in(token: str) -> str | None:
    """The package a word of a dependency string asks for, if it asks for one.

    >>> package_in(">=dev-lang/python-2.7.5-r2:2.7[xml]"), package_in("!app-arch/tar")
    ('dev-lang/python', None)
    """
    if token.startswith("!") or "/" not in token:
        return None
    name = token.lstrip("<>=~").partition("[")[0].partition(":")[0]
    return _VERSION.sub("", name)


def without_hubs(graph: Graph, most: int) -> tuple[Graph, str]:
    """The graph without the edges of its hubs, and what to say of it."""
    is_hub = graph.degrees(graph.rows) > most
    without_hubs = graph.keeping_edges(lambda source, target: ~(is_hub[source] | is_hub[target]))
    note = (
        f"{int(is_hub.sum())} packages with more than {most} links (counted among all classes) "
        f"have lost them: {graph.num_edges - without_hubs.num_edges} of {graph.num_edges} edges "
        "were removed."
    )
    return without_hubs, note

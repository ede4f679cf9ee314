"""Gentoo dataset: source packages of a Linux distribution, joined by dependencies."""

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
# Map of dependency fields to edge types: needed to build, to run, and to run later.
FIELDS = {"DEPEND": "build", "RDEPEND": "run", "PDEPEND": "later"}
KINDS = dict.fromkeys(FIELDS.values(), True)
# Categories that contain only placeholders for packages of other categories.
STAND_INS = ("virtual", "java-virtuals")

_VERSION = re.compile(r"-\d+(\.\d+)*[a-z]?(_(alpha|beta|pre|rc|p)\d*)*(-r\d+)?\*?$")


@dataclass(kw_only=True)
class Gentoo(Dataset):
    """Package graph: words of descriptions as features, 133 categories as classes."""

    smallest_class: PositiveInt = 20
    """Minimum number of packages of a category; smaller categories are left out."""

    hub_degree: PositiveInt | None = 300
    """Maximum number of links of a package. Packages with more links (hubs) lose all their links,
    but stay in the graph; None keeps all links. Thousands of packages link to a few compilers and
    build tools."""

    name: ClassVar[str] = "gentoo"
    summary: ClassVar[str] = "source packages joined by dependencies, hubs cut; many small classes"
    citation: ClassVar[str] = "Gentoo Foundation, package tree of 11 August 2015 (GPL-2)"
    licence: ClassVar[str] = "GPL-2.0"
    site: ClassVar[str] = "https://github.com/gentoo/gentoo-portage-rsync-mirror"
    folders: ClassVar[tuple[str, ...]] = ("gentoo-packages",)
    required_files: ClassVar[tuple[str, ...]] = (CACHE, LONG)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files; the category of a package is its class, not a feature."""
        packages = read_packages(files[CACHE], files[LONG])
        large = in_large_classes(packages, self.smallest_class, STAND_INS)
        graph, labels = text_graph(large, KINDS)
        notes = [WORDS_NOTE]
        if self.hub_degree is not None:
            graph, note = without_hubs(graph, self.hub_degree)
            notes.append(note)
        setting = Setting(base=37, pseudo_novel=40, validation=6, novel=50, ways=5, shots=5)
        return LoadedDataset(self.name, graph, labels, setting, notes=tuple(notes))


@dataclass(kw_only=True)
class GentooUncut(Gentoo):
    """Gentoo packages with all links, including those of hubs."""

    hub_degree: PositiveInt | None = None
    """Maximum number of links of a package; with None, all links are kept."""

    name: ClassVar[str] = "gentoo-uncut"
    summary: ClassVar[str] = "source packages joined by dependencies, all of them"


def read_packages(cache: Path, long: Path) -> list[TextNode]:
    """Return a node for each package, with the links and descriptions of all its versions."""
    links: dict[str, dict[str, set[str]]] = {}
    # Use dictionary keys to remove duplicates: versions mostly repeat the same sentence.
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
            {kind: _package_names(some) for kind, some in tokens.items()},
        )
        for package, tokens in links.items()
    ]


def _package_names(tokens: Iterable[str]) -> set[str]:
    return {name for token in tokens if (name := package_in(token))}


def package_in(token: str) -> str | None:
    """Return the package that a token of a dependency string requires; None if there is none.

    >>> package_in(">=dev-lang/python-2.7.5-r2:2.7[xml]"), package_in("!app-arch/tar")
    ('dev-lang/python', None)
    """
    if token.startswith("!") or "/" not in token:
        return None
    name = token.lstrip("<>=~").partition("[")[0].partition(":")[0]
    return _VERSION.sub("", name)


def without_hubs(graph: Graph, most: int) -> tuple[Graph, str]:
    """Return the graph without the edges of its hubs, and a note that counts what was removed."""
    is_hub = graph.degrees(graph.rows) > most
    without_hubs = graph.keeping_edges(lambda source, target: ~(is_hub[source] | is_hub[target]))
    note = (
        f"{int(is_hub.sum())} packages with more than {most} links (counted among all classes) "
        f"have lost them: {graph.num_edges - without_hubs.num_edges} of {graph.num_edges} edges "
        "were removed."
    )
    return without_hubs, note

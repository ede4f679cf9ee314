"""Debian dataset: binary packages of a Linux distribution, joined by dependencies."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.readers import read_stanzas
from nodegraft.lab.datasets.templates.text_graph import (
    WORDS_NOTE,
    TextNode,
    in_large_classes,
    text_graph,
)
from nodegraft.streams.setting import Setting

PACKAGES, TRANSLATION = "Packages.xz", "Translation-en.xz"
LINKS = ("Pre-Depends", "Depends", "Recommends", "Suggests")
KINDS = {field.lower(): True for field in LINKS}
# A virtual name with more providers (such as mail-transport-agent) would link unrelated packages.
MOST_PROVIDERS = 5
# Training, held-out and test data need at least one source package each, because all packages of a
# source are in the same part.
FEWEST_SOURCES = 3

_NAME = re.compile(r"(?:^|[,|])\s*([^\s(\[<:,|]+)")


@dataclass(kw_only=True)
class Debian(Dataset):
    """Package graph: words of English descriptions as features, 41 topic sections as classes."""

    smallest_class: PositiveInt = 100
    """Minimum number of packages of a section; smaller sections are left out."""

    name: ClassVar[str] = "debian"
    summary: ClassVar[str] = "binary packages joined by dependencies; classes are topic sections"
    citation: ClassVar[str] = "Debian 12 bookworm, package index of 11 July 2026, main, amd64"
    site: ClassVar[str] = "https://www.debian.org"
    folders: ClassVar[tuple[str, ...]] = ("debian-packages",)
    required_files: ClassVar[tuple[str, ...]] = (PACKAGES, TRANSLATION)
    without: ClassVar[tuple[str, ...]] = (
        *("libs", "libdevel", "doc", "debug", "oldlibs"),
        *("metapackages", "tasks", "localization", "introspection"),
    )
    setting: ClassVar[Setting] = Setting(
        base=11, pseudo_novel=8, validation=2, novel=20, ways=2, shots=3
    )

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files; the class of a package is its section.

        Names, sources and tags are not used as features, because they nearly reveal the section.
        """
        stanzas = list(read_stanzas(files[PACKAGES]))
        records = read_packages(stanzas, read_descriptions(files[TRANSLATION]))
        large = in_large_classes(records, self.smallest_class, self.without)
        graph, labels = text_graph(large, KINDS)
        sources = {stanza["Package"]: source_of(stanza) for stanza in stanzas}
        _, groups = np.unique([sources[record.key] for record in large], return_inverse=True)
        few = [
            name for name, rows in labels.items() if np.unique(groups[rows]).size < FEWEST_SOURCES
        ]
        labels = labels.select(name for name in labels if name not in few)
        return LoadedDataset(self.name, graph, labels, self.setting, groups, _notes(few))


@dataclass(kw_only=True)
class DebianAll(Debian):
    """Debian packages in 50 sections, including the nine role sections (libs, doc …)."""

    name: ClassVar[str] = "debian-all"
    summary: ClassVar[str] = "binary packages joined by dependencies; topic and role sections"
    without: ClassVar[tuple[str, ...]] = ()
    setting: ClassVar[Setting] = Setting(
        base=14, pseudo_novel=9, validation=2, novel=24, ways=2, shots=3
    )


def _notes(few: Sequence[str]) -> tuple[str, ...]:
    notes = [
        WORDS_NOTE,
        "Packages of one source have near-equal descriptions: they form a group, which is never "
        "both taught and asked.",
    ]
    if few:
        notes.append(
            f"Fewer than {FEWEST_SOURCES} sources make up {', '.join(few)}, which cannot be "
            "divided so: the packages are in the graph, without a label."
        )
    return tuple(notes)


def read_descriptions(path: Path) -> dict[str, str]:
    """Return descriptions of packages by checksum, which package entries refer to."""
    return {
        stanza["Description-md5"]: stanza["Description-en"]
        for stanza in read_stanzas(path)
        if "Description-en" in stanza
    }


def read_packages(
    stanzas: Collection[Mapping[str, str]], descriptions: Mapping[str, str]
) -> list[TextNode]:
    """Return a node for each package.

    A package that is listed in two versions has the links of both.
    """
    providers = _providers(stanzas)
    packages = {stanza["Package"]: stanza for stanza in stanzas}
    links: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in packages}
    for stanza in stanzas:
        for field in LINKS:
            for dependency in names_in(stanza.get(field, "")):
                real = [dependency] if dependency in packages else providers.get(dependency, ())
                links[stanza["Package"]][field.lower()].update(real)
    return [
        TextNode(name, stanza["Section"], _text(stanza, descriptions), links[name])
        for name, stanza in packages.items()
    ]


def _text(stanza: Mapping[str, str], descriptions: Mapping[str, str]) -> str:
    return descriptions.get(stanza.get("Description-md5", ""), stanza.get("Description", ""))


def _providers(stanzas: Iterable[Mapping[str, str]]) -> dict[str, set[str]]:
    providers: dict[str, set[str]] = defaultdict(set)
    for stanza in stanzas:
        for virtual in names_in(stanza.get("Provides", "")):
            providers[virtual].add(stanza["Package"])
    return {name: real for name, real in providers.items() if len(real) <= MOST_PROVIDERS}


def names_in(relation: str) -> list[str]:
    """Return the package names in a dependency field, including alternatives.

    >>> names_in("libc6 (>= 2.34), python3:any | python3-all [amd64], zlib1g")
    ['libc6', 'python3', 'python3-all', 'zlib1g']
    """
    return _NAME.findall(relation)


def source_of(stanza: Mapping[str, str]) -> str:
    """Return the name of the source package: the name of the package itself if the field is absent.

    >>> source_of({"Package": "bash"}), source_of({"Package": "sh", "Source": "dash (0.5)"})
    ('bash', 'dash')
    """
    return stanza.get("Source", stanza["Package"]).split()[0]

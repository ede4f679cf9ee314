"""Dataset card: what a dataset is, for readers (README.md) and for programs (croissant.json)."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nodegraft.base.counting import escape_markdown
from nodegraft.graph.statistics import GraphStatistics
from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset

UNKNOWN_LICENCE = "not known here: ask the publisher before you share the files"
"""Licence in a card if the dataset names none."""

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "citeAs": "cr:citeAs",
}
_FORMATS = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".npz": "application/zip",
    ".tsv": "text/tab-separated-values",
    ".xz": "application/x-xz",
    ".zip": "application/zip",
}
"""File extension -> media type of the file."""


def dataset_card(
    dataset: type[Dataset],
    loaded: LoadedDataset,
    numbers: GraphStatistics,
    files: Mapping[str, Path],
) -> dict[str, bytes]:
    """Return the files of a dataset card, file name -> content.

    ``croissant.json`` follows Croissant 1.0 of MLCommons. It names the raw files with their
    checksums, relative to their folder, and describes no columns, because most raw files are not
    tables.

    Args:
        dataset: Class of the dataset.
        loaded: The dataset after loading.
        numbers: Statistics of its graph.
        files: File name -> path of the raw file.
    """
    croissant = json.dumps(_croissant(dataset, loaded, files), indent=1) + "\n"
    readme = _readme(dataset, loaded, numbers, files)
    return {"README.md": readme.encode(), "croissant.json": croissant.encode()}


def _readme(
    dataset: type[Dataset],
    loaded: LoadedDataset,
    numbers: GraphStatistics,
    files: Mapping[str, Path],
) -> str:
    sizes = f"{numbers.smallest_class} to {numbers.largest_class}, median {numbers.median_class}"
    rows = {
        "source": dataset.citation,
        "licence": dataset.licence or UNKNOWN_LICENCE,
        "nodes": f"{numbers.nodes:,} ({numbers.isolated:,} without an edge)",
        "edges": f"{numbers.edges:,}",
        "features": f"{numbers.features:,}",
        "classes": f"{numbers.classes} (nodes in a class: {sizes})",
        "edges within a class": f"{numbers.homophily:.1%}",
        "default split": str(loaded.setting),
        "hash of graph and labels": loaded.content_hash,
    }
    lines = [f"# {loaded.name}", "", dataset.summary, "", "| | |", "|---|---|"]
    lines += [f"| {name} | {escape_markdown(text)} |" for name, text in rows.items()]
    lines += ["", *(f"- {note}" for note in loaded.notes)]
    lines += ["", "| file | bytes |", "|---|---|"]
    lines += [f"| {name} | {path.stat().st_size:,} |" for name, path in files.items()]
    load = f'nodegraft.load_dataset("{loaded.name}", root)'
    lines += ["", f"Load it with `{load}`, where `root` holds the folder of the files."]
    return "\n".join(lines) + "\n"


def _croissant(
    dataset: type[Dataset], loaded: LoadedDataset, files: Mapping[str, Path]
) -> dict[str, Any]:
    found = re.search(r"https://\S+", dataset.citation)
    sentences = [f"{text.rstrip('.')}." for text in (dataset.summary, *loaded.notes)]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": loaded.name,
        "description": " ".join(sentences),
        "license": dataset.licence or UNKNOWN_LICENCE,
        "url": dataset.site or (found.group() if found else ""),
        "citeAs": dataset.citation,
        "version": "1.0.0",
        "distribution": [_file_object(name, path) for name, path in files.items()],
    }


def _file_object(name: str, path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": _FORMATS.get(path.suffix, "application/octet-stream"),
        "sha256": digest,
    }

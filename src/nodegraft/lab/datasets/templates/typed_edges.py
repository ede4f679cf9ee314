"""Edges that say what kind they are."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from nodegraft.base.errors import DataError
from nodegraft.lab.datasets.templates.tsv import number_in, read_rows


class TypedEdge(NamedTuple):
    """One edge as the raw file has it."""

    source: int
    """The number of the node it starts from."""

    target: int
    """The number of the node it points to."""

    kind: str
    """What joins the two."""

    is_directed: bool
    """Whether it matters which of the two is the source."""


def read_typed_edges(path: Path, kinds: Mapping[str, bool]) -> Iterator[TypedEdge]:
    """One edge a line: source, target, kind.

    Args:
        kinds: Every kind it may name -> whether its edges have a direction.
    """
    for source, target, kind in read_rows(path, 3):
        if kind not in kinds:
            raise DataError(
                f"{path} has an edge of kind {kind!r}, known are {', '.join(kinds)}: it is of "
                "another version than this parser."
            )
        yield TypedEdge(number_in(source, path), number_in(target, path), kind, kinds[kind])

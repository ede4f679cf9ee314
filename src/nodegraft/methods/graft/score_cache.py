"""Scores on a graph's shelf: after a change only the classes that it moved are compared anew."""

from collections.abc import Sequence

import numpy as np

from nodegraft.base.files.bundle import Arrays
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.stores.protocol import Shelf
from nodegraft.methods.graft.classes import Floats
from nodegraft.methods.graft.scoring import Scoring


def kept_scores(scoring: Scoring, rows: IntArray, block_rows: int) -> Floats:
    """The same as :meth:`Scoring.scores`, but for rounding; whole blocks of nodes are kept.

    A block on the shelf has a column for each class, known by the hash of all that it depends on,
    and as many older ones: two versions in turn find theirs, and undoing the last change, too.

    Args:
        scoring: How classes are scored.
        rows: The nodes, each once and ascending.
        block_rows: How many nodes a block has.
    """
    shelf, nodes = scoring.evidence.features.shelf, scoring.evidence.view.num_nodes
    if not (shelf.keeps and _is_block(rows, block_rows, nodes)):
        return scoring.scores(rows)
    place = "scores", block_rows, int(rows[0])
    columns = _columns(shelf.get(*place))
    missing = np.array([at for at, name in enumerate(scoring.hashes) if name not in columns])
    if missing.size:
        made = scoring.of(missing).scores(rows)
        columns |= {scoring.hashes[column]: made[:, at] for at, column in enumerate(missing)}
        _keep(shelf, place, scoring.hashes, columns)
    return np.stack([columns[name] for name in scoring.hashes]).T


def _is_block(rows: IntArray, block_rows: int, nodes: int) -> bool:
    if not rows.size or rows[0] % block_rows:
        return False
    last = min(rows[0] + block_rows, nodes) - 1
    return bool(rows[-1] == last and rows.size == last + 1 - rows[0])


def _columns(kept: Arrays | None) -> dict[str, Floats]:
    if kept is None:
        return {}
    return dict(zip((bytes(one).hex() for one in kept["names"]), kept["scores"], strict=True))


def _keep(
    shelf: Shelf, place: tuple[str, int, int], needed: Sequence[str], columns: dict[str, Floats]
) -> None:
    """The columns that are needed first, then as many others, those first that were needed last."""
    others = [name for name in columns if name not in set(needed)]
    names = [*dict.fromkeys(needed), *others[: len(needed)]]
    digests = np.stack([np.frombuffer(bytes.fromhex(name), dtype=np.uint8) for name in names])
    shelf.put({"names": digests, "scores": np.stack([columns[name] for name in names])}, *place)

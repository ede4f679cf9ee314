"""Measure whether a class tree helps ``graft``: by borrowing between siblings, and by backing off.

    python -m studies.class_tree --data DIR     # measure what is missing, then write the page
    python -m studies.class_tree                # write the page again

Under the arrival ``present``, after all new classes have come. Ways to borrow were chosen on
:mod:`studies.inner_streams` of gentoo and wordnet. The test streams of the held-out graphs were run
once, with the one way that was chosen. Writes ``studies/records/class-tree.json``, stream by
stream, and ``docs/explanation/class-tree-measured.md``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from studies.class_backoff import Bools, Branches, Floats, Ints, measured_branches
from studies.class_borrowing import (
    borrowing,
    merged_by_parent,
    of_best_branch,
    parents_of_rows,
    with_branch_scores,
)
from studies.class_tree_page import DESIGN, HELD_OUT, PLAIN, page_text
from studies.inner_streams import inner_stream
from studies.record_file import PAGES, Record, rounded
from studies.selective import balanced_weights

from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.lab.datasets.metamath import CLASSES, Metamath
from nodegraft.lab.datasets.templates import readers
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.methods.graft import Graft
from studies import record_file

RECORDS = record_file.FOLDER / "class-tree.json"
SHOTS = (5, 1)
"""Numbers of labels of each new class; backing off is measured with the first."""

CANDIDATES = [
    *product(("means", "regressions", "heat"), (0.5, 2.0)),
    *product(("branches",), (0.25, 0.5)),
    ("best branch", 1.0),
]
"""Ways to borrow that were tried for the choice, and how much."""

CHOSEN = [("means", 0.5)]
"""The way for the held-out graphs."""

SEPARATORS = {"gentoo": "-", "wordnet": ".", "linux-sources": "/"}
"""What ends the name of the parent in the name of a class."""


def main() -> None:
    """Measure what is missing if data is given, and write the page."""
    options = record_file.parser(__doc__, graphs=(*DESIGN, *HELD_OUT)).parse_args()
    if options.data:

        def measured(data: LoadedDataset, seed: int) -> Record:
            return measured_stream(data, seed, parents_of_classes(data, options.data))

        wanted = product(options.graphs, range(options.seeds))
        record_file.measure_missing(RECORDS, ("graph", "seed"), wanted, options.data, measured)
    (PAGES / "class-tree-measured.md").write_text(page_text(record_file.read(RECORDS)))


def parents_of_classes(data: LoadedDataset, folder: str) -> dict[str, str]:
    """Return the parent of each class that has one.

    That is what precedes the separator in its name, and for metamath the part of the library.

    Args:
        data: The dataset.
        folder: Folder with the data folders.
    """
    if data.name == "metamath-theorems":
        rows = readers.read_rows(Metamath().locate(folder)[CLASSES], 4)
        return {" ".join(chapter.split()): part for _, _, part, chapter in rows}
    parts = {name: name.partition(SEPARATORS[data.name]) for name in data.labels}
    return {name: parent for name, (parent, separator, _) in parts.items() if separator}


def measured_stream(data: LoadedDataset, seed: int, parents: Mapping[str, str]) -> Record:
    """Fit a model to the known classes of a stream, add the new ones, and measure.

    Args:
        data: The graph and its labels.
        seed: Of the stream.
        parents: Parent of each class that has one.
    """
    is_test = data.name in HELD_OUT
    draw = data.stream if is_test else partial(inner_stream, data)
    stream = draw(seed=seed, arrival="present")
    sessions = list(stream)
    new = {name: rows for some in sessions[1:] for name, rows in some.support.items()}
    view, train, query = sessions[-1].view, stream.split.train, sessions[-1].query
    names, rows = [*train, *new], np.sort(query.rows())
    targets = query.targets(names)[np.argsort(query.rows())]
    is_new, branches = targets >= len(train), Branches.of(names, parents)
    taught = Taught(
        Graft(seed=seed).fit(view, train),
        view,
        train,
        parents,
        parents_of_rows(stream.split.members, parents),
    )
    record = {
        "stream": "test" if is_test else "inner",
        "known_classes": len(train),
        "new_classes": len(new),
        "accuracy": {
            str(shots): {
                way: accuracies(scores, targets, is_new, branches)
                for way, scores in taught.scores_by_way(
                    {name: some[:shots] for name, some in new.items()},
                    rows,
                    CHOSEN if is_test else CANDIDATES,
                )
            }
            for shots in SHOTS
        },
    }
    scores = taught.scores(NodeLabels({**train, **new}), rows)
    shares = taught.model.probabilities(view, scores)
    known = taught.model.known_class_probability(view, scores)
    return record | {"back_off": measured_branches(shares, known, targets, is_new, branches)}


@dataclass(frozen=True)
class Taught:
    """Model that was fitted to the known classes of a stream, without a tree.

    Args:
        model: The model. Its labels are replaced; its weights stay.
        view: The graph.
        known: Labels of the known classes.
        parents: Parent of each class that has one.
        parent_of_row: Number of the parent of each node's class.
    """

    model: Graft
    view: GraphView
    known: NodeLabels
    parents: Mapping[str, str]
    parent_of_row: Ints

    def scores(self, labels: NodeLabels, rows: Ints) -> Floats:
        """Replace the labels of the model, and return scores of nodes in the order of the classes.

        Args:
            labels: All labels, of classes or of parents.
            rows: Row numbers of the nodes, ascending.
        """
        first = set(self.known) | set(merged_by_parent(self.known, self.parents))
        self.model.set_labels(self.view, labels, {name: int(name not in first) for name in labels})
        # Not `score_rows`, which would return cached scores: they depend on the way to borrow.
        return self.model.derive(self.view).scoring.scores(rows)

    def scores_by_way(
        self, new: Mapping[str, Ints], rows: Ints, ways: list[tuple[str, float]]
    ) -> Iterator[tuple[str, Floats]]:
        """Yield the scores without borrowing, then those with each way to borrow, and its name.

        Args:
            new: Labels of the new classes.
            rows: Row numbers of the nodes, ascending.
            ways: Ways to borrow, and how much.
        """
        labels = NodeLabels({**self.known, **new})
        plain = self.scores(labels, rows)
        yield PLAIN, plain
        merged = merged_by_parent(labels, self.parents)
        above = self.scores(NodeLabels(merged), rows)
        branch = [list(merged).index(self.parents.get(name, name)) for name in labels]
        for way, strength in ways:
            if way == "best branch":
                scores = of_best_branch(plain, np.array(branch))
            elif way == "branches":
                scores = with_branch_scores(plain, np.array(branch), above, strength)
            else:
                with borrowing(way, strength, self.parent_of_row):
                    scores = self.scores(labels, rows)
            yield f"{way} {strength:g}", scores


def accuracies(scores: Floats, targets: Ints, is_new: Bools, branches: Branches) -> Record:
    """Return accuracies, every class counting alike: all, known, new, and of highest ancestors.

    Args:
        scores: Scores of each class: nodes x classes.
        targets: Column of each node's class.
        is_new: Whether each node is of a new class.
        branches: The classes and their ancestors.
    """
    best, tops = scores.argmax(axis=1), branches.tops
    right = best == targets
    return {
        "all": rounded(macro(right, targets)),
        "known": rounded(macro(right[~is_new], targets[~is_new])),
        "new": rounded(macro(right[is_new], targets[is_new])),
        "top": rounded(macro(tops[best] == tops[targets], targets)),
    }


def macro(right: Bools, targets: Ints) -> float:
    """Return the share of right predictions, every class counting alike.

    >>> macro(np.array([True, False, True]), np.array([0, 0, 3]))
    0.75

    Args:
        right: Whether each prediction is right.
        targets: Class of each node.
    """
    return float(np.average(right, weights=balanced_weights(targets)))


if __name__ == "__main__":
    main()

"""Measure scorers of nodes with several labels each, on the tags of Debian's packages.

    python -m studies.several_labels --data DIR     # measure what is missing, then write the page
    python -m studies.several_labels                # write the page again

A package has any number of tags ("use::editing", "implemented-in::c"); tags are labels here and
never features. Packages of one source have near-equal descriptions and are never divided. A third
of the sources, the same for all seeds, is used to choose settings. The others are divided by the
hash of their keys into training and test packages for each seed. Labels of a tag are drawn from the
training packages that have it, tag by tag: which other tags a drawn package has is not shown, and a
labelled package that is not a label of a tag counts as a negative example of it.
``MultiLabel`` itself is measured, too, on the original word counts.
Writes ``studies/records/several-labels.json``, ``studies/records/several-labels-model.json`` and
``docs/explanation/several-labels-measured.md``.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product

import numpy as np
from studies.record_file import PAGES, Record, rounded
from studies.several_labels_scorers import HOPS, SCORERS, Floats, Ints, Setting, Task

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.measure import Measurement
from nodegraft.evaluation.label_sets import average_precisions, evaluate_label_sets
from nodegraft.graph.edges.matrix import normalise_rows, weigh_columns
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import hash_order
from nodegraft.graph.statistics import column_rarity
from nodegraft.lab.datasets.debian import PACKAGES, DebianAll
from nodegraft.lab.datasets.templates.readers import read_stanzas
from nodegraft.lab.report.tables import percent
from nodegraft.methods.multi_label import MultiLabel
from nodegraft.methods.templates.propagated import side_by_side
from studies import record_file

RECORDS = record_file.FOLDER / "several-labels.json"
MODEL_RECORDS = record_file.FOLDER / "several-labels-model.json"
SHOTS = (5, 20, 0)
"""Numbers of labels of each tag; 0 for all labels in the training packages."""

SMALLEST = 30
"""Minimum number of packages of a tag."""

COLUMNS = 512
"""Number of columns to which the word counts are reduced (latent semantic analysis)."""


@dataclass(frozen=True)
class Tagged:
    """Packages with tags.

    Args:
        graph: All packages, with dense features.
        features: Propagated features of all packages: rows of length 1.
        tags: Rows of the packages of each tag, ascending.
        groups: Group of each package: its source.
    """

    graph: Graph
    features: Floats
    tags: dict[str, Ints]
    groups: Ints

    @property
    def rows(self) -> Ints:
        """Rows of all packages with tags, ascending."""
        return np.unique(np.concatenate(list(self.tags.values())))

    def divided(self, rows: Ints, share: float, seed: int) -> tuple[Ints, Ints]:
        """Divide packages in two parts by the hash of the first package of each source.

        Args:
            rows: Rows of packages, ascending.
            share: Share of the sources in the first part.
            seed: Of the hash.
        """
        _, firsts = np.unique(self.groups, return_index=True)
        sources = np.unique(self.groups[rows])
        order = hash_order(self.graph.key_array_of(firsts[sources]), seed)
        is_first = np.isin(self.groups[rows], sources[order[: int(share * sources.size)]])
        return rows[is_first], rows[~is_first]

    def task(self, train: Ints, shots: int, seed: int, test: Ints) -> tuple[Task, list[str]]:
        """Return the task of scoring packages, and the tags that it has labels for.

        Args:
            train: Rows of the packages from which labels are drawn.
            shots: Number of labels of each tag; 0 for all.
            seed: Of the draw.
            test: Rows of the packages to score.
        """
        labels = {}
        for name, members in self.tags.items():
            rows = members[np.isin(members, train)]
            order = hash_order(self.graph.key_array_of(rows), seed)
            if rows.size:
                labels[name] = np.sort(rows[order[: shots or None]])
        return Task(self.graph, self.features, list(labels.values()), test), list(labels)

    def precision(self, scores: Floats, rows: Ints, names: Sequence[str]) -> float:
        """Return the mean over tags of the average precision of scores.

        Args:
            scores: Score of each package and tag.
            rows: Rows of the packages.
            names: The tags, in the order of the columns.
        """
        truth = np.column_stack([np.isin(rows, self.tags[name]) for name in names])
        return float(np.nanmean(average_precisions(scores, truth)))


def main() -> None:
    """Measure what is missing if data is given, and write the page."""
    options = record_file.parser(__doc__, seeds=3, graphs=()).parse_args()
    if options.data:
        load = cache(lambda: read_tagged(options.data))
        choose = cache(lambda shots: chosen_settings(load(), shots))
        record_file.add_missing(
            RECORDS,
            ("seed", "labels"),
            product(range(options.seeds), SHOTS),
            lambda seed, shots: measured(load(), shots, seed, choose(shots)),
        )
        words = cache(lambda: DebianAll().load(options.data).graph)
        record_file.add_missing(
            MODEL_RECORDS,
            ("seed", "labels"),
            product(range(options.seeds), SHOTS),
            lambda seed, shots: measured_model(load(), words(), shots, seed),
        )
    text = page(record_file.read(RECORDS), record_file.read(MODEL_RECORDS))
    (PAGES / "several-labels-measured.md").write_text(text)


def read_tagged(data: str) -> Tagged:
    """Read the packages and their tags, and reduce and propagate the features.

    Args:
        data: The folder that holds the data folders.
    """
    from sklearn.utils.extmath import randomized_svd

    dataset = DebianAll().load(data)
    graph = dataset.graph
    words = normalise_rows(weigh_columns(graph.features(graph.rows), column_rarity(graph)))
    _, _, directions = randomized_svd(words, COLUMNS, n_iter=3, random_state=0)
    dense = np.asarray(words @ directions.T, dtype=np.float32)
    reduced = graph.with_features(dense)
    layers = side_by_side(reduced.propagated(reduced.rows, HOPS))
    keys = graph.key_array_of(graph.rows).tolist()
    row = {key: place for place, key in enumerate(keys)}
    members = defaultdict(set)
    for stanza in read_stanzas(DebianAll().locate(data)[PACKAGES]):
        for tag in stanza.get("Tag", "").split(","):
            if tag.strip() and stanza["Package"] in row:
                members[tag.strip()].add(row[stanza["Package"]])
    tags = {name: np.array(sorted(rows)) for name, rows in sorted(members.items())}
    large = {name: rows for name, rows in tags.items() if rows.size >= SMALLEST}
    features = np.asarray(layers, dtype=np.float32) / np.float32(np.sqrt(HOPS + 1))
    return Tagged(reduced, features, large, np.asarray(dataset.groups))


def development(data: Tagged) -> tuple[Ints, Ints]:
    """Return the packages used to choose settings, and those for training and test."""
    return data.divided(data.rows, 1 / 3, seed=1000)


def chosen_settings(data: Tagged, shots: int) -> dict[str, Setting]:
    """Return the best setting of each scorer on packages that are in no test.

    Args:
        data: The packages.
        shots: Number of labels of each tag; 0 for all.
    """
    train, test = data.divided(development(data)[0], 0.5, seed=2000)
    task, names = data.task(train, shots, 0, test)
    chosen = {}
    for scorer, (scores, settings) in SCORERS.items():
        reached = [data.precision(found, test, names) for found in scores(task, settings)]
        chosen[scorer] = settings[int(np.argmax(reached))]
        print(shots, scorer, dict(zip(settings, reached, strict=True)), flush=True)
    return chosen


def measured(data: Tagged, shots: int, seed: int, chosen: dict[str, Setting]) -> Record:
    """Return the mean average precision of each scorer on the test packages.

    Args:
        data: The packages.
        shots: Number of labels of each tag; 0 for all.
        seed: Of division and draw.
        chosen: Setting of each scorer.
    """
    train, test = data.divided(development(data)[1], 0.5, seed)
    task, names = data.task(train, shots, seed, test)
    precisions = {}
    for scorer, (scores, settings) in SCORERS.items():
        # A logistic regression begins at the fits with the settings before.
        until = settings[: settings.index(chosen[scorer]) + 1]
        *_, last = scores(task, until if scorer == "logistic regression" else [chosen[scorer]])
        precisions[scorer] = rounded(data.precision(last, test, names))
    return {
        "tags": len(names),
        "labelled": int(task.labelled.size),
        "test": int(test.size),
        "precision": precisions,
        "settings": {name: list(setting) for name, setting in chosen.items()},
    }


def measured_model(data: Tagged, words: Graph, shots: int, seed: int) -> Record:
    """Return the metrics of ``MultiLabel`` with its default parameters on the test packages.

    Args:
        data: The packages.
        words: The same packages with their word counts.
        shots: Number of labels of each tag; 0 for all.
        seed: Of division and draw.
    """
    train, test = data.divided(development(data)[1], 0.5, seed)
    task, names = data.task(train, shots, seed, test)
    labels = {name: words.keys_of(rows) for name, rows in zip(names, task.labels, strict=True)}
    held_out = {
        name: words.keys_of(data.tags[name][np.isin(data.tags[name], test)]) for name in names
    }
    with Measurement() as work:
        model = MultiLabel().fit(words, labels)
        found = evaluate_label_sets(model, words, held_out)
    return {
        field: value if field == "nodes" else rounded(value)
        for field, value in asdict(found).items()
    } | {"seconds": round(work.seconds, 1)}


def page(records: Sequence[Record], model_records: Sequence[Record]) -> str:
    """Return the tables as Markdown.

    Args:
        records: All records of scorers there are.
        model_records: All records of ``MultiLabel`` there are.
    """
    groups = {shots: record_file.matching(records, labels=shots) for shots in SHOTS}
    rows = [
        [
            scorer,
            *(
                percent([record["precision"][scorer] for record in some])
                for some in groups.values()
            ),
        ]
        for scorer in SCORERS
    ]
    for field in ("tags", "labelled", "test"):
        counts = [f"{some[0][field]:,}" if some else "–" for some in groups.values()]
        rows.append([f"*{field}, first seed*", *counts])
    rows.append(["*seeds*", *(str(len(some)) for some in groups.values())])
    head = ["scorer", *(f"{shots} labels a tag" if shots else "all labels" for shots in SHOTS)]
    models = {shots: record_file.matching(model_records, labels=shots) for shots in SHOTS}
    fields = {
        "mean_average_precision": "mean average precision",
        "macro_f1": "macro F1",
        "micro_f1": "micro F1",
        "coverage": "coverage",
        "calibration_error": "calibration error",
    }
    model_rows = [
        [title, *(percent([record[field] for record in some]) for some in models.values())]
        for field, title in fields.items()
    ]
    model_rows.append(["*seeds*", *(str(len(some)) for some in models.values())])
    return (
        "<!-- Written by studies/several_labels.py. -->\n\n"
        "Mean average precision in %, every tag counting alike; mean ± half of the 95 % interval "
        f"over seeds.\n\n{Table.of(head, rows).markdown()}\n\n"
        "`MultiLabel` with its default parameters, on the original word counts, in %:\n\n"
        f"{Table.of(['', *head[1:]], model_rows).markdown()}\n"
    )


if __name__ == "__main__":
    main()

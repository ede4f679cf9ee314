"""Effect of each ingredient of the published protocol, and the authors' numbers next to ours.

    python -m studies.published --data DIR     # measure what is missing, then write the tables
    python -m studies.published                # write the tables again

The known classes are learned once for all choices of ingredients. Writes
``studies/records/published.json``, stream by stream, and from it
``docs/explanation/published-measured.md``. What the authors' code printed on the same class roles
is in ``studies/records/authors.json``: it was run outside this repository, as that file says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from studies.record_file import GRAPHS, PAGES, Record

import nodegraft as ng
from nodegraft.analysis.rendering.table import Table
from nodegraft.evaluation.published import Ingredients, evaluate_published
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.report.tables import percent
from studies import record_file

RECORDS = record_file.FOLDER / "published.json"
AUTHORS = record_file.FOLDER / "authors.json"
EVERYTHING = "everything"
NOTHING = "without any of them"
NO_DROPOUT_EITHER = "without doubled and dropout"
INGREDIENTS = Ingredients.names()
VARIANTS = {
    EVERYTHING: (),
    **{f"without {name}": (name,) for name in INGREDIENTS},
    NO_DROPOUT_EITHER: ("doubled", "dropout"),
    NOTHING: INGREDIENTS,
}
# How the tables call the variants that the authors' code was run in.
AS_THE_AUTHORS = {
    EVERYTHING: "as it is",
    "without doubled": "candidates not doubled",
    NO_DROPOUT_EITHER: "dropout off as well",
}


@dataclass(frozen=True)
class Contender:
    """Prototype method and its parameters."""

    method: str
    parameters: dict[str, Any] = field(default_factory=dict)


# What the authors' code does in training; our own defaults differ.
AS_IN_THEIR_CODE = {
    "adapt": "none",
    "practice_dropout": 0.5,
    "nla_start": "wide",
    "queries": 20,
    "base_shots": 1000,
}
CONTENDERS = {
    "hag-meta": Contender("hag-meta", {**AS_IN_THEIR_CODE, "pretrain_on": "known"}),
    "hag-meta, pre-trained on base": Contender("hag-meta", AS_IN_THEIR_CODE),
    "proto-gcn": Contender("proto-gcn", {"pretrain_on": "known"}),
    "proto-gcn, pre-trained on base": Contender("proto-gcn", {"pretrain_on": "base"}),
    "proto-gat": Contender("proto-gat", {"pretrain_on": "known"}),
    "sgc-mean": Contender("sgc-mean"),
}
SHOWN = ("hag-meta", "proto-gcn", "proto-gat", "sgc-mean")


def main() -> None:
    """Measure what is missing if data is given, and write the tables."""
    parser = record_file.parser(__doc__)
    parser.add_argument("--contenders", nargs="+", default=list(CONTENDERS), choices=CONTENDERS)
    options = parser.parse_args()
    if options.data:
        wanted = product(options.graphs, options.contenders, range(options.seeds))
        names = ("graph", "contender", "seed")
        record_file.measure_missing(RECORDS, names, wanted, options.data, measured)
    records = record_file.read(RECORDS)
    (PAGES / "published-measured.md").write_text(page_text(records, record_file.read(AUTHORS)))


def measured(data: LoadedDataset, name: str, seed: int) -> Record:
    """Measure the accuracy of every session for every choice of ingredients."""
    contender = CONTENDERS[name]
    model = ng.make_method(contender.method, seed=seed, **contender.parameters)
    stream = data.stream(seed=seed, arrival="with-class")
    choices = [Ingredients.without(names) for names in VARIANTS.values()]
    results = [evaluate_published(model, stream, ingredients=choice) for choice in choices]
    return {
        "accuracy": {
            variant: [round(session.micro_accuracy, 4) for session in result.sessions]
            for variant, result in zip(VARIANTS, results, strict=True)
        },
    }


def page_text(records: Sequence[Record], authors: Sequence[Record]) -> str:
    """Return all tables, as a page includes them."""
    parts = [
        "<!-- Written by studies/published.py. -->",
        "**Accuracy in % on the public amazon part: the authors' code and ours**",
        comparison_table(records, authors),
    ]
    for graph in GRAPHS:
        some = record_file.matching(records, graph=graph)
        if some:
            parts += [f"**{graph}: last session, in %, and what changes without an ingredient**"]
            parts += [ingredient_table(some)]
    return "\n\n".join(parts) + "\n"


def comparison_table(records: Sequence[Record], authors: Sequence[Record]) -> str:
    """Return a table of means over the seeds that both have."""
    ours = record_file.matching(records, graph="amazon-clothing", contender="hag-meta")
    seeds = sorted({record["seed"] for record in ours} & {record["seed"] for record in authors})
    rows = []
    for variant, title in AS_THE_AUTHORS.items():
        theirs = [record["accuracy"][title] for record in authors if record["seed"] in seeds]
        mine = [record["accuracy"][variant][1:] for record in ours if record["seed"] in seeds]
        for who, values in (("authors' code", theirs), ("ours", mine)):
            cells = [percent(column) for column in zip(*values, strict=True)]
            rows.append([f"{title}, {who}", *cells])
    heads = [f"session {number}" for number in range(1, len(rows[0]))]
    return Table.of(["variant", *heads], rows).markdown() if seeds else "Not measured yet."


def ingredient_table(records: Sequence[Record]) -> str:
    """Return a table: all ingredients, then the change without each of them."""
    last = {
        name: {record["seed"]: _last(record) for record in records if record["contender"] == name}
        for name in CONTENDERS
    }
    shown = [name for name in SHOWN if last[name]]
    rows = [["everything", *(percent(_values(last[name], EVERYTHING)) for name in shown)]]
    for variant in VARIANTS:
        if variant not in (EVERYTHING, NO_DROPOUT_EITHER):
            cells = [_change(last[name], last[name], variant) for name in shown]
            rows.append([variant.replace("_", " "), *cells])
    on_base = [last.get(f"{name}, pre-trained on base", {}) for name in shown]
    if any(on_base):
        cells = [
            _change(last[name], base, EVERYTHING) for name, base in zip(shown, on_base, strict=True)
        ]
        rows.append(["pre-trained on the base classes alone", *cells])
    return Table.of(["ingredients", *shown], rows).markdown()


def _last(record: Record) -> dict[str, float]:
    return {variant: values[-1] for variant, values in record["accuracy"].items()}


def _values(by_seed: Mapping[int, dict[str, float]], variant: str) -> list[float]:
    return [record[variant] for record in by_seed.values()]


def _change(
    whole: Mapping[int, dict[str, float]], other: Mapping[int, dict[str, float]], variant: str
) -> str:
    seeds = whole.keys() & other.keys()
    return percent([other[seed][variant] - whole[seed][EVERYTHING] for seed in seeds], signed=True)


if __name__ == "__main__":
    main()

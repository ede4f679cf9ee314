"""Accuracy of each signal of ``graft`` on the real graphs, alone and in the mixture.

    python -m studies.graft_signals --data DIR     # measure, then draw
    python -m studies.graft_signals                # draw the records again

Validation classes arrive (no test node is used), and all classes are evaluated after the last
session. Writes ``graft-signals.json``, and from it the figure, once drawn and once in words and
numbers, for the page beside them.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from studies.figures.signals import (
    Accuracies,
    GraphSignals,
    describe_signals,
    draw_signals,
)
from studies.record_file import GRAPHS, PAGES

from nodegraft.analysis.rendering.drawing import save_svg
from nodegraft.analysis.rendering.table import Table
from nodegraft.base.events import SILENT
from nodegraft.evaluation.protocol import teach
from nodegraft.methods.graft import Graft
from nodegraft.methods.graft.practice import Mixture, Round
from nodegraft.methods.linear.loglinear import Signals, mixture_weights
from nodegraft.model.best_classes import recalls
from nodegraft.streams.session import Session
from studies import record_file

RECORDS = record_file.FOLDER / "graft-signals.json"
# What a group is called -> how the names of its signals begin.
GROUPS: dict[str, tuple[str, ...]] = {
    "own features": ("own features", "own words"),
    "neighbours, 1 hop": ("features 1 away", "features that edges"),
    "neighbours, 2 hops": ("features 2 away", "words 2 away"),
    # The records are of the random walks that diffusion has replaced: rename it with new records.
    "walks from labels": ("diffusion",),
    "regression": ("regression",),
}


@dataclass(kw_only=True)
class Watched(Graft):
    """Graft that stores its practice rounds, so that single signals can be weighted on them."""

    def _practise(self, *given: Any) -> tuple[list[Mixture], list[Round]]:
        stages, self.practised = super()._practise(*given)
        return stages, self.practised

    def signals(self, session: Session, rows: NDArray[np.int64]) -> Signals:
        """What :meth:`score` adds up."""
        blocks = np.split(rows, range(self.block_rows, rows.size, self.block_rows))
        scorer = self.derived(session.view)
        return np.concatenate([scorer.values(block) for block in blocks], axis=1)


def main() -> None:
    """Measure if data is given, and draw."""
    options = record_file.parser(__doc__, seeds=3).parse_args()
    if options.data:
        wanted = product(options.graphs, range(options.seeds))
        record_file.measure_missing(RECORDS, ("graph", "seed"), wanted, options.data, measured)
    graphs = signals_by_graph(record_file.read(RECORDS))
    save_svg(draw_signals(graphs), PAGES / "graft-signals.svg")
    (PAGES / "graft-signals.md").write_text(page_text(graphs))


def measured(data: Any, seed: int) -> dict[str, Any]:
    """Measure accuracies of single signals and of the mixture, and their weights in it."""
    stream = data.stream(seed=seed).rehearsal()
    model = Watched(seed=seed)
    for session in stream:
        teach(model, session, stream, SILENT)
    rows = np.sort(session.query.rows())
    signals = model.signals(session, rows)
    targets = session.query.targets(model.classes_)[np.argsort(session.query.rows())]
    known = len(stream.split.known)

    def accuracy(scores: NDArray[np.float64]) -> dict[str, float]:
        recall = recalls(targets, scores.argmax(axis=1), len(model.classes_))
        parts = {"all": recall, "known": recall[:known], "new": recall[known:]}
        return {part: round(float(some.mean()), 4) for part, some in parts.items()}

    names = [signal.name for signal in model.derived(session.view).evidence.signals]
    weights, spreads = model.weights_[-1], signals - signals.mean(axis=2, keepdims=True)
    parts = {
        group: [place for place, name in enumerate(names) if name.startswith(starts)]
        for group, starts in GROUPS.items()
    }
    alone, moved = {}, {}
    for group, places in parts.items():
        pair = [*places, len(names) - 1]
        rounds = [(pairing.values[pair], pairing.targets) for pairing in model.practised]
        own = mixture_weights(rounds, num_signed=1)
        alone[group] = accuracy(np.tensordot(own, signals[pair], 1))
        moved[group] = round(float(np.tensordot(weights[places], spreads[places], 1).std()), 4)
    return {
        "known_classes": known,
        "new_classes": len(model.classes_) - known,
        "shots": data.setting.shots,
        "queries": int(rows.size),
        "weights": dict(zip(names, weights.round(4).tolist(), strict=True)),
        "moved": moved,
        "alone": alone,
        "mixture": accuracy(np.tensordot(weights, signals, 1)),
    }


def signals_by_graph(records: list[dict[str, Any]]) -> list[GraphSignals]:
    """Join the records of each graph."""
    return [
        GraphSignals(
            graph,
            seen=_accuracies(some, "all"),
            new=_accuracies(some, "new"),
            score_share=_by_name([_shares(record) for record in some]),
        )
        for graph in GRAPHS
        if (some := record_file.matching(records, graph=graph))
    ]


def _accuracies(records: list[dict[str, Any]], part: str) -> Accuracies:
    # Single signals are helped with few labels as the mixture is: that help is none of its lead.
    singles = [record["alone"] for record in records]
    alone = _by_name([{name: seed[name][part] for name in seed} for seed in singles])
    return Accuracies(alone, [record["mixture"][part] for record in records])


def _by_name(seeds: list[dict[str, float]]) -> dict[str, list[float]]:
    return {name: [seed[name] for seed in seeds] for name in seeds[0]}


def _shares(record: dict[str, Any]) -> dict[str, float]:
    """Return each signal's share of the score: weights of different units do not compare."""
    moved = record["moved"]
    return {name: value / sum(moved.values()) for name, value in moved.items()}


def page_text(graphs: list[GraphSignals]) -> str:
    """Return the page: the figure with its text alternative, and a table of its numbers."""
    image = f"```{{image}} graft-signals.svg\n:alt: {describe_signals(graphs)}\n```"
    heads = ["graph", "classes", *graphs[0].seen.bars, "lead over the best one"]
    rows = []
    for graph in graphs:
        for classes, right in {"all seen": graph.seen, "new": graph.new}.items():
            means = [f"{100 * np.mean(seeds):.1f}" for seeds in right.bars.values()]
            rows.append([graph.graph, classes, *means, _lead(right)])
    table = Table.of(heads, rows).markdown()
    return f"<!-- Written by studies/graft_signals.py. -->\n\n{image}\n\n{table}\n"


def _lead(right: Accuracies) -> str:
    """Return the lead of the mixture over the best signal, paired by seed."""
    leads = 100 * (np.array(right.mixture) - np.array(right.alone[right.best]))
    return f"{leads.mean():+.1f} ({leads.min():+.1f} to {leads.max():+.1f})"


if __name__ == "__main__":
    main()

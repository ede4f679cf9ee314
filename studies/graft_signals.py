"""What each signal of ``graft`` is worth on the real graphs, alone and mixed.

    python -m studies.graft_signals --data DIR     # measures, then draws
    python -m studies.graft_signals                # draws again what was measured

Validation classes arrive (no test node is asked), and after the last session all seen classes are
asked about. Writes ``graft-signals.json``, and from it the figure, once drawn and once in words and
numbers, for the page beside them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from studies import record_file
from studies.record_file import PAGES

from nodegraft.base.events import SILENT
from nodegraft.evaluation.protocol import teach
from nodegraft.methods.graft import Graft
from nodegraft.nn.linear.loglinear import Signals, mixture_weights
from nodegraft.nn.recalls import recalls
from nodegraft.report.figures.canvas.drawing import save_svg
from nodegraft.report.figures.signals import (
    Accuracies,
    GraphSignals,
    describe_signals,
    draw_signals,
)
from nodegraft.report.tables.table import Table
from nodegraft.streams.session import Session
from nodegraft.training.practice import PracticeRound

GRAPHS = ("amazon-clothing", "gentoo", "wordnet", "debian")
RECORDS = record_file.FOLDER / "graft-signals.json"
FEW_LABELS = "few labels"


@dataclass(kw_only=True)
class Watched(Graft):
    """Keeps its practice, so that each signal can be weighed by itself on the same rounds."""

    def _rounds(self, *given: Any) -> Iterator[PracticeRound]:
        self.practised = list(super()._rounds(*given))
        return iter(self.practised)

    def signals(self, session: Session, rows: NDArray[np.int64]) -> Signals:
        """What :meth:`score` adds up."""
        blocks = np.split(rows, range(self.block_rows, rows.size, self.block_rows))
        view, known = session.view, self._known_on(session.view)
        parts = [
            self._signals(view, block, self._layers(view, block), known, self.centre_)
            for block in blocks
        ]
        return np.concatenate(parts, axis=1)

    @property
    def signal_names(self) -> list[str]:
        """In the order of the weights."""
        away = [f"neighbours, {hop} hop{'s' if hop > 1 else ''}" for hop in range(1, self.hops + 1)]
        return ["own features", *away, "walks from labels", FEW_LABELS]


def main() -> None:
    """Measure if there is data to measure on, and draw."""
    options = record_file.parser(__doc__, seeds=3).parse_args()
    if options.data:
        wanted = product(options.graphs, range(options.seeds))
        record_file.measure_missing(RECORDS, ("graph", "seed"), wanted, options.data, measured)
    graphs = signals_by_graph(record_file.read(RECORDS))
    save_svg(draw_signals(graphs), PAGES / "graft-signals.svg")
    (PAGES / "graft-signals.md").write_text(told(graphs))


def measured(data: Any, seed: int) -> dict[str, Any]:
    """One stream: accuracies of single signals and of the mixture, and what they weigh in it."""
    stream = data.stream(seed=seed, arrival="with-class").rehearsal()
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

    names = model.signal_names
    centred = signals - signals.mean(axis=2, keepdims=True)
    spreads = centred.std(axis=(1, 2))
    alone = {name: accuracy(signal) for name, signal in zip(names[:-1], signals, strict=False)}
    corrected = {}
    for place, name in enumerate(names[:-1]):
        pair = [place, len(names) - 1]
        rounds = [(one.signals[pair], one.targets) for one in model.practised]
        weights = mixture_weights(rounds, num_signed=1)
        corrected[name] = accuracy(np.tensordot(weights, signals[pair], 1))
    return {
        "known_classes": known,
        "new_classes": len(model.classes_) - known,
        "shots": data.setting.shots,
        "queries": int(rows.size),
        "weights": dict(zip(names, model.weights_.round(4).tolist(), strict=True)),
        "spreads": dict(zip(names, spreads.round(4).tolist(), strict=True)),
        "as_it_is": alone,
        "made_up_for_few_labels": corrected,
        "mixture": accuracy(np.tensordot(model.weights_, signals, 1)),
    }


def signals_by_graph(records: list[dict[str, Any]]) -> list[GraphSignals]:
    """The records of each graph together."""
    return [
        GraphSignals(
            graph,
            seen=_accuracies(some, "all"),
            new=_accuracies(some, "new"),
            score_share=_by_name([_shares(one) for one in some]),
        )
        for graph in GRAPHS
        if (some := [one for one in records if one["graph"] == graph])
    ]


def _accuracies(records: list[dict[str, Any]], part: str) -> Accuracies:
    # Single signals are helped with few labels as the mixture is: that help is none of its lead.
    singles = [one["made_up_for_few_labels"] for one in records]
    alone = _by_name([{name: one[name][part] for name in one} for one in singles])
    return Accuracies(alone, [one["mixture"][part] for one in records])


def _by_name(seeds: list[dict[str, float]]) -> dict[str, list[float]]:
    return {name: [one[name] for one in seeds] for name in seeds[0]}


def _shares(record: dict[str, Any]) -> dict[str, float]:
    """Weights of signals with different units do not compare; what they move in the score does."""
    moved = {name: abs(w) * record["spreads"][name] for name, w in record["weights"].items()}
    return {name: value / sum(moved.values()) for name, value in moved.items()}


def told(graphs: list[GraphSignals]) -> str:
    """The figure with its text alternative, and a table of its numbers."""
    image = f"```{{image}} graft-signals.svg\n:alt: {describe_signals(graphs)}\n```"
    heads = ["graph", "classes", *graphs[0].seen.bars, "lead over the best one"]
    rows = []
    for one in graphs:
        for classes, right in {"all seen": one.seen, "new": one.new}.items():
            means = [f"{100 * np.mean(seeds):.1f}" for seeds in right.bars.values()]
            rows.append([one.graph, classes, *means, _lead(right)])
    table = Table.of(heads, rows).markdown()
    return f"<!-- Written by studies/graft_signals.py. -->\n\n{image}\n\n{table}\n"


def _lead(right: Accuracies) -> str:
    """Of the mixture, seed by seed."""
    leads = 100 * (np.array(right.mixture) - np.array(right.alone[right.best]))
    return f"{leads.mean():+.1f} ({leads.min():+.1f} to {leads.max():+.1f})"


if __name__ == "__main__":
    main()

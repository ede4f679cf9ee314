"""Figure of the weights of HAG-Meta's two attentions at the end of a real stream.

    python -m studies.attention_figure --data DIR     # measure, then draw
    python -m studies.attention_figure                # draw the records again

Strict protocol, arrival ``growing``, seed 0, the values of ``experiments/search/hag-meta.json``, on
gentoo, where node weights spread most. Writes ``studies/records/attention-figure.json``, and from
it ``docs/explanation/hag-meta-attention.svg`` and, with a description of it,
``docs/explanation/attention-figure-measured.md``.
"""

from typing import Any

import numpy as np
from studies.record_file import PAGES, Record
from studies.searches import best_parameters

from nodegraft.analysis.rendering.drawing import save_svg
from nodegraft.base.events import SILENT
from nodegraft.evaluation.protocol import teach
from nodegraft.graph.keys import Key
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.report.figures.attention import draw_attention
from nodegraft.methods.hag_meta import Attention, HAGMeta
from studies import record_file

RECORDS = record_file.FOLDER / "attention-figure.json"
GRAPH, SEED = "gentoo", 0
FIGURE = "hag-meta-attention.svg"
SESSIONS = 2
"""Supports of the classes of so many last sessions are drawn."""


def main() -> None:
    """Measure if data is given, and draw."""
    options = record_file.parser(__doc__, seeds=1).parse_args()
    if options.data:
        wanted = [(GRAPH, SEED)]
        record_file.measure_missing(RECORDS, ("graph", "seed"), wanted, options.data, measured)
    attention = recorded()
    save_svg(draw_attention(attention), PAGES / FIGURE)
    (PAGES / "attention-figure-measured.md").write_text(page_text(attention))


def measured(data: LoadedDataset, seed: int) -> Record:
    """Run a stream and return the attention after its last session, by node key."""
    model = HAGMeta(seed=seed, **best_parameters(HAGMeta.name, data.name))
    stream = data.stream(seed=seed)
    for session in stream:
        teach(model, session, stream, SILENT)
    view, attention = session.view, model.attention(session.view)
    nodes: dict[str, dict[Any, float]] = {}
    for name, weights in attention.nodes.items():
        keys = stream.user_keys(view.rows_of(weights))
        shares = [round(weight, 5) for weight in weights.values()]
        nodes[name] = dict(zip(keys, shares, strict=True))
    tasks = [[list(names), round(weight, 5)] for names, weight in attention.tasks]
    return {"nodes": nodes, "tasks": tasks}


def recorded() -> Attention:
    """Return the recorded attention, with the supports of the last sessions only."""
    (record,) = record_file.read(RECORDS)
    tasks = tuple((tuple(names), weight) for names, weight in record["tasks"])
    drawn = [name for names, _ in tasks[-SESSIONS:] for name in names]
    # Keys of gentoo begin with the class, which the figure shows above its supports.
    nodes: dict[str, dict[Key, float]] = {
        name: {
            key.removeprefix(f"{name}/"): weights for key, weights in record["nodes"][name].items()
        }
        for name in drawn
    }
    return Attention(nodes, tasks)


def page_text(attention: Attention) -> str:
    """Return the figure with its text alternative, as a page includes it."""
    weights = np.array([list(weights.values()) for weights in attention.nodes.values()])
    shares = [weight for _, weight in attention.tasks]
    top = int(np.argmax(shares))
    alternative = (
        f"Bars of node-level attention for {weights.shape[0]} classes with {weights.shape[1]} "
        f"supports each: weights from {weights.min():.3f} to {weights.max():.3f}, around "
        f"{1 / weights.shape[1]:.3f}. Below them bars of task-level attention for {len(shares)} "
        f"tasks: the base has {shares[0]:.3f}, session {top} has {max(shares):.3f}, the latest "
        f"{shares[-1]:.3f}."
    )
    image = f"```{{image}} {FIGURE}\n:alt: {alternative}\n```"
    return f"<!-- Written by studies/attention_figure.py. -->\n\n{image}\n"


if __name__ == "__main__":
    main()

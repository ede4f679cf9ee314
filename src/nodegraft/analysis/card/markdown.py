"""Files of a model card: Markdown with the YAML header that model hubs read, and figures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from nodegraft.analysis.accuracy import calibration_error
from nodegraft.analysis.card.card import Card, Step
from nodegraft.analysis.rendering.table import Table
from nodegraft.analysis.version import AccuracyCount
from nodegraft.base.counting import escape_markdown, listed
from nodegraft.base.errors import MissingExtraError
from nodegraft.model.confidence import NO_ESTIMATE

TAGS = ("graph", "node-classification", "few-shot", "class-incremental-learning")

FEW = 30
"""The card calls accuracy a rough estimate if there are fewer held-out nodes than this number."""

DARK = (
    '<style type="text/css">@media (prefers-color-scheme: dark) '
    "{svg {filter: invert(0.9) hue-rotate(180deg)}}</style>\n "
)
"""Style for pages in dark mode: it inverts the lightness of a figure and keeps its hues."""


def card_files(card: Card, store: str, name: str) -> dict[str, str]:
    """Return file name -> text of all files of a card, in writing order: the Markdown file is last.

    Figures are omitted if Matplotlib is not installed; the card then says how to install it.

    Args:
        name: File name without its extension.
    """
    files, figures = {}, {}
    if card.held_out.total:
        try:
            from nodegraft.analysis.card.figures import draw_card

            for picture in draw_card(card):
                file = f"{name}-{picture.name}.svg"
                files[file] = picture.svg.replace("<defs>", f"{DARK}<defs>", 1)
                figures[picture.name] = f"![{escape_markdown(picture.description)}]({file})"
        except MissingExtraError:
            pass
    return {**files, f"{name}.md": card_markdown(card, store, figures)}


def card_markdown(card: Card, store: str, figures: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the card as Markdown.

    Args:
        figures: Name of a figure -> Markdown that shows it; empty without figures.
    """

    def shown(*names: str) -> list[str]:
        return [figures[name] for name in names if name in figures]

    parts = [
        _head(card, store),
        f"# {escape_markdown(store)}, version {card.version}",
        _what_it_is(card),
        "## Classes and accuracy",
        *_how_well(card),
        *shown("recall", "confusion"),
        *_missing(card, figures),
        "## Confidence and abstaining",
        *_abstaining(card, shown("calibration"), shown("abstaining")),
        "## History",
        *shown("history"),
        _table(
            ("version", "change", "note", "by", "when (UTC)", "held-out accuracy"),
            list(map(_step, card.history)),
        ),
        "## Limits",
        "\n".join(f"- {escape_markdown(limit)}" for limit in limits(card)),
        "## Settings",
        _table(("parameter", "value"), [(a, json.dumps(b)) for a, b in card.parameters.items()]),
        f"Written by nodegraft {card.nodegraft}.",
    ]
    return "\n\n".join(parts) + "\n"


def _head(card: Card, store: str) -> str:
    """Return the YAML header; values are written as JSON, because JSON strings are valid YAML."""
    lines = ["---", "license: unknown", "library_name: nodegraft", "tags:"]
    lines += [f"- {tag}" for tag in TAGS]
    if card.held_out.share is not None:
        lines += [
            "metrics:",
            "- accuracy",
            "model-index:",
            f"- name: {json.dumps(f'{store}, version {card.version}', ensure_ascii=False)}",
            "  results:",
            "  - task:",
            "      type: node-classification",
            "    dataset:",
            "      type: own",
            "      name: held-out nodes of the store",
            "    metrics:",
            "    - type: accuracy",
            f"      value: {card.held_out.share:.4f}",
        ]
    return "\n".join([*lines, "---"])


def _what_it_is(card: Card) -> str:
    graph, labels = card.graph, sum(entry.labels for entry in card.classes)
    edges = ", ".join(f"{count:,} {escape_markdown(kind)}" for kind, count in graph.kinds.items())
    kinds = "" if len(graph.kinds) == 1 else f" of {len(graph.kinds)} types ({edges})"
    summary = (
        f"It predicts the class of a node. Method: `{card.method}`. It has {len(card.classes)} "
        f"classes, learned from {labels:,} labelled nodes of a graph with {graph.nodes:,} nodes, "
        f"{graph.edges:,} edges{kinds} and {graph.features:,} features, unchanged since version "
        f"{graph.since}."
    )
    move = card.promotion
    if move is None:
        return f"{summary} This version was never live."
    why = f": “{escape_markdown(move.note)}”" if move.note else "."
    return (
        f"{summary}\n\nPromoted by {escape_markdown(move.by)} on {move.at:%Y-%m-%d %H:%M} UTC{why}"
    )


def _how_well(card: Card) -> Iterator[str]:
    if card.held_out.interval is None:
        yield (
            "No label is held out (a fifth of every class with 10 labels or more is), so accuracy "
            "is not known."
        )
    else:
        yield (
            f"**Held-out accuracy {_percent(card.held_out.share)}** on {card.held_out.total:,} "
            f"labelled nodes that it did not learn from (95 % interval "
            f"{_interval(card.held_out)}). By class:"
        )
    head = ("class", "labels learned", "held out", "correct", "recall", "95 % interval", "since")
    rows = [
        (
            escape_markdown(entry.name),
            f"{entry.labels:,}",
            f"{entry.held_out.total:,}",
            f"{entry.held_out.right:,}" if entry.held_out.total else "–",
            _percent(entry.held_out.share),
            _interval(entry.held_out),
            f"version {entry.since}",
        )
        for entry in card.classes
    ]
    yield _table(head, rows)


def _missing(card: Card, figures: Mapping[str, str]) -> list[str]:
    if card.held_out.total == 0 or figures:
        return []
    return [
        "No figures: `nodegraft card STORE --out FILE` draws some beside the file, if the extra "
        "for figures is installed (`pip install 'nodegraft[plots]'`)."
    ]


def _abstaining(card: Card, calibration: list[str], levels: list[str]) -> Iterator[str]:
    if card.reliability is None:
        yield (
            f"`{card.method}` gives no calibrated confidence, so it cannot abstain: it predicts "
            "a known class for every node, also for nodes of unknown classes."
        )
        return
    yield _world(card)
    if card.calibration:
        error = 100 * calibration_error(card.calibration)
        yield (
            f"Probability and accuracy differ by {error:.1f} points on average, in ten groups of "
            "held-out nodes by probability (expected calibration error)."
        )
    yield from calibration
    yield (
        "Accuracy and coverage of predictions with a least confidence (`nodegraft predict "
        "--min-confidence`), measured on held-out nodes:"
    )
    rows = [
        (
            f"{least:.2f}",
            _percent(count.total / card.held_out.total if card.held_out.total else None),
            _percent(count.share),
            _interval(count),
        )
        for least, count in card.reliability.items()
    ]
    yield _table(("least confidence", "coverage", "accuracy", "95 % interval"), rows)
    yield from levels


def _world(card: Card) -> str:
    if card.world == "closed":
        return (
            "World when this card was written: closed. Every node is assumed to belong to a known "
            "class, so confidence is the probability of the predicted class among the known ones."
        )
    opening = "World when this card was written: open. Nodes may belong to unknown classes"
    share = card.share_of_known_classes
    if share is None:
        return f"{opening}. {NO_ESTIMATE}"
    return (
        f"{opening}, so confidence is "
        "the probability of the predicted class among the known ones, times the probability that "
        f"the node belongs to any known class. An estimated {_percent(share)} of the unlabelled "
        "nodes belong to known classes."
    )


def _step(step: Step) -> Sequence[str]:
    override = f"override: {step.override}" if step.override else ""
    why = "; ".join(part for part in (step.note, override) if part)
    when = step.at[:16].replace("T", " ")
    cells = (
        f"{step.version}",
        escape_markdown(step.what),
        escape_markdown(why),
        escape_markdown(step.by),
        when,
    )
    return (*cells, _percent(step.held_out.share))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return Table.of(head, rows).markdown()


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _interval(count: AccuracyCount) -> str:
    interval = count.interval
    return "–" if interval is None else f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %"


def limits(card: Card) -> list[str]:
    """Return sentences on improper uses of the model, and on what was not measured."""
    few = [part.name for part in card.classes if 0 < part.held_out.total < FEW]
    abstains = ", unless it abstains; how often it does so was not measured"
    sentences = [
        "It predicts only the classes above: a node of another class gets one of these"
        f"{abstains if card.reliability is not None else ''}.",
        "Held-out nodes are nodes that somebody chose to label. Others may be harder, which the "
        "intervals do not show.",
        "Every change was checked on the same held-out nodes, so these numbers are slightly "
        "optimistic; more so where near-duplicates of a node are among the labels learned.",
        "Not measured: accuracy for groups of nodes within a class, accuracy on a graph that has "
        "changed since, and the cost of a wrong prediction. Do not let it decide alone where a "
        "wrong prediction harms somebody.",
    ]
    if few:
        sentences.insert(0, f"Measured on fewer than {FEW} nodes, so only roughly: {listed(few)}.")
    if card.unmeasured and card.held_out.total:
        sentences.insert(
            0, f"Not measured, because no node is held out: {listed(card.unmeasured)}."
        )
    return sentences

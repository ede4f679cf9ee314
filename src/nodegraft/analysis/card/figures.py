"""Figures of a model card: recall, confusion matrix, calibration, abstaining and history."""

from collections.abc import Callable
from functools import partial

from nodegraft.analysis.card.card import Card
from nodegraft.analysis.rendering import class_plots, plots
from nodegraft.analysis.rendering.drawing import PAPER, Axes, Picture, figure_style, panel
from nodegraft.evaluation.confusion import ConfusionMatrix


@figure_style
def draw_card(card: Card) -> list[Picture]:
    """Draw the figures of a card; each has its own background for light and dark pages."""
    recalls = {entry.name: entry.held_out for entry in card.classes if entry.held_out.total}
    draw = partial(plots.draw_recall, recalls=recalls)
    pictures = [_picture("recall", _recall(card), plots.recall_size(recalls), draw)]
    if card.confusion is not None:
        draw = partial(class_plots.draw_confusion, matrix=card.confusion)
        size = class_plots.confusion_size(card.confusion)
        pictures.append(_picture("confusion", _mistakes(card.confusion), size, draw))
    if card.reliability is not None:
        draw = partial(plots.draw_calibration, bins=card.calibration)
        pictures.append(_picture("calibration", _calibration(card), plots.SIZE, draw))
        draw = partial(plots.draw_abstaining, levels=card.reliability, total=card.held_out.total)
        pictures.append(_picture("abstaining", _abstaining(card), plots.SIZE, draw))
    # Replace the recorded accuracy of the card's version by the accuracy on all its held-out nodes.
    counts = {step.version: step.held_out for step in card.history} | {card.version: card.held_out}
    live = [step.version for step in card.history if step.was_live]
    draw = partial(plots.draw_history, counts=counts, live=live)
    return [*pictures, _picture("history", _history(card), plots.SIZE, draw)]


def _picture(
    name: str, text: str, size: tuple[float, float], draw: Callable[[Axes], None]
) -> Picture:
    figure, axes = panel("", "", size=size)
    figure.set_facecolor(PAPER)
    draw(axes)
    return Picture(name, text, figure)


def _recall(card: Card) -> str:
    entries = [entry for entry in card.classes if entry.held_out.total]
    ordered = sorted(entries, key=lambda entry: entry.held_out.share or 0.0)
    text = "; ".join(f"{entry.name} {entry.held_out}" for entry in ordered[:8])
    return f"Recall by class, lowest first: {text}."


def _mistakes(matrix: ConfusionMatrix) -> str:
    mistakes = [f"{true} as {other}: {count}" for true, other, count in matrix.mistakes()[:8]]
    return f"Most frequent mistakes: {'; '.join(mistakes) or 'none'}."


def _calibration(card: Card) -> str:
    texts = (
        f"{100 * group.probability:.0f} %: {group.count.right} of {group.count.total} correct"
        for group in card.calibration
    )
    return f"Correct predictions by mean probability: {'; '.join(texts)}."


def _abstaining(card: Card) -> str:
    levels = "; ".join(
        f"{least:.2f}: {count.total} of {card.held_out.total} predicted, {count.right} correctly"
        for least, count in (card.reliability or {}).items()
    )
    return f"By least confidence: {levels}."


def _history(card: Card) -> str:
    text = "; ".join(f"{step.version}: {step.held_out}" for step in card.history[-8:])
    return f"Held-out accuracy by version: {text}."

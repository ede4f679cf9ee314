"""The files of a model card: its text, and its picture where drawing is installed."""

from nodegraft.analysis.card.card import Card
from nodegraft.analysis.card.markdown import card_markdown
from nodegraft.base.errors import MissingExtraError


def card_files(card: Card, store: str, name: str) -> dict[str, str]:
    """Name of a file -> its text, in the order in which they are written: the card is the last.

    Args:
        card: What there is to say.
        store: The name of the store's folder.
        name: Of the files, without their endings.
    """
    text, drawn = f"{name}.md", f"{name}.svg"
    if card.held_out.asked:
        try:
            from nodegraft.analysis.card.figures import draw_card

            return {drawn: draw_card(card).svg, text: card_markdown(card, store, drawn)}
        except MissingExtraError:
            # A card without its picture is better than none; it says how to get one.
            pass
    return {text: card_markdown(card, store)}

"""SVG that lives in a page: its colours follow the page, and it has a text alternative."""

import re
from html import escape

from nodegraft.analysis.rendering.drawing import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PAPER,
    PURPLE,
    SKY,
    VERMILION,
)
from nodegraft.analysis.rendering.markup import sentences_to_html
from nodegraft.analysis.rendering.picture import Picture

# Colour of a figure -> what the page calls it; see page.css.
SHADES = {
    INK: "currentColor",
    GREY: "var(--grey)",
    PAPER: "var(--paper)",
    BLUE: "var(--blue)",
    VERMILION: "var(--vermilion)",
    GREEN: "var(--green)",
    PURPLE: "var(--purple)",
    ORANGE: "var(--orange)",
    SKY: "var(--sky)",
}


def inline_svg(picture: Picture, name: str, title: str) -> str:
    """An element for a page.

    >>> from nodegraft.analysis.rendering.drawing import panel
    >>> svg = inline_svg(Picture("one", "Says 5 < 6.", panel("", "")[0]), "curves", "Curves")
    >>> svg[svg.index("<title") : svg.index("</desc>")]
    '<title id="curves-title">Curves</title><desc id="curves-description">Says 5 &lt; 6.'

    Args:
        picture: What is shown.
        name: Differs from those of all other figures of the page, to keep their ids apart.
        title: What the figure is called, for readers who cannot see it.
    """
    text = picture.svg
    text = text[text.index("<svg") :]
    # Names of namespaces mean nothing in HTML, and would look like links to somewhere else.
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="|url\()#', rf"\1#{name}-", text)
    for colour, shade in SHADES.items():
        text = text.replace(colour.lower(), shade)
    box = re.search(r'viewBox="[^"]*"', text)
    text_alternative = (
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-description">{escape(picture.description)}</desc>'
    )
    labels = f"{name}-title {name}-description"
    opening = f'<svg {box[0] if box else ""} role="img" aria-labelledby="{labels}">'
    return re.sub(r"<svg[^>]*>", lambda _: opening + text_alternative, text, count=1).strip()


def figure_html(picture: Picture, name: str, title: str) -> str:
    """The same with its caption below.

    Args:
        picture: What is shown.
        name: Differs from those of all other figures of the page.
        title: What the figure is called, for readers who cannot see it.
    """
    caption = sentences_to_html(picture.caption)
    below = f"<figcaption>{caption}</figcaption>\n" if caption else ""
    return f"<figure>\n{inline_svg(picture, name, title)}\n{below}</figure>"

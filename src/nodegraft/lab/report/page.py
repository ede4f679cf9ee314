"""The page of a report: one HTML file without scripts that needs no other file."""

import re
from collections.abc import Sequence
from html import escape

from nodegraft.analysis.own_labels.comparison import Evaluation
from nodegraft.analysis.rendering import drawing
from nodegraft.analysis.rendering.drawing import Picture
from nodegraft.analysis.rendering.markup import to_html
from nodegraft.analysis.rendering.table import Table
from nodegraft.base.extras import extra
from nodegraft.lab.report.against_others import AgainstOthers, against_others
from nodegraft.lab.report.figures.catalogue import FIGURES
from nodegraft.lab.report.figures.embedding_map import EmbeddingMap
from nodegraft.lab.report.figures.leads import draw_against_others
from nodegraft.lab.report.figures.points import draw_recommendation
from nodegraft.lab.report.figures.styles import PAPERS_METHOD
from nodegraft.lab.report.recommendation import recommend
from nodegraft.lab.report.section import HELD_OUT, Section, main_section
from nodegraft.lab.report.tables import TABLES, range_text

with extra("lab", package="jinja2", purpose="Writing a report"):
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

# Colour of a figure -> the page's variable, which differs by day and by night; see page.css.
SHADES = {
    drawing.INK: "currentColor",
    drawing.GREY: "var(--grey)",
    drawing.PAPER: "var(--paper)",
    drawing.BLUE: "var(--blue)",
    drawing.VERMILION: "var(--vermilion)",
    drawing.GREEN: "var(--green)",
    drawing.PURPLE: "var(--purple)",
    drawing.ORANGE: "var(--orange)",
    drawing.SKY: "var(--sky)",
}
NUMBER_AND_UNIT = re.compile(
    r"(?<=\d) (?=%|s\b|MB|points|±)|(?<=±) |(?<=p) (?=[=≤])|(?<=[=≤]) (?=\d)"
)


def page_html(
    sections: Sequence[Section],
    maps: Sequence[EmbeddingMap],
    evaluation: Evaluation | None = None,
) -> str:
    """Return the whole page; sections without a record are only named.

    Args:
        sections: The suites, in the order of the page; see with_styles().
        maps: Maps of embeddings, shown after the sections with figures.
        evaluation: Comparison on a store's own labels, whose recommendation the page shows.
    """
    recorded = [section for section in sections if section.recorded]
    main = main_section(recorded)
    best, rivals = recommend(main.groups), against_others(recorded)
    return (
        templates()
        .get_template("page.html")
        .render(
            main=main,
            best=best,
            evaluation=evaluation,
            best_picture=draw_recommendation(best, main.styles) if best else None,
            rivals=rivals,
            rivals_picture=draw_against_others(rivals, main.styles) if rivals else None,
            rivals_table=rivals_table(rivals) if rivals else None,
            notes=[one.note for one in recorded if one.name == HELD_OUT and one is not main],
            with_figures=[section for section in recorded if section.suite.figures],
            without_figures=[section for section in recorded if not section.suite.figures],
            unrecorded=[section for section in sections if not section.recorded],
            maps=maps,
            figure_kinds=FIGURES,
            table_kinds=TABLES,
            papers_method=PAPERS_METHOD,
        )
    )


def rivals_table(comparison: AgainstOthers) -> Table:
    """Return the numbers of the first screen, a row for each graph."""
    rows = [
        (
            f"{one.dataset}{' *' * one.is_held_out}",
            f"{one.accuracy:.1f}",
            one.best.name,
            f"{one.best.accuracy:.1f}",
            str(one.best),
            f"{one.papers.accuracy:.1f}" if one.papers else "–",
            str(one.papers) if one.papers else "–",
            f"{one.best.seeds}",
        )
        for one in comparison.graphs
    ]
    head = ("graph", f"{comparison.method} %", "best other method", "its %", "difference")
    papers = (f"{PAPERS_METHOD} %", "difference", "seeds")
    caption = (
        "Macro accuracy after the last session; differences in points, paired by seed, with half "
        "of the 95 % interval. Seeds are those of the best other method."
    )
    return Table.of((*head, *papers), rows, caption)


def templates() -> Environment:
    """Return the environment of the templates, with their filters."""
    environment = Environment(
        loader=PackageLoader("nodegraft.lab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "marked": lambda text: Markup(to_html(text)),
        "one_decimal": lambda number: f"{number:.1f}",
        "range": lambda numbers: range_text(numbers).replace("-", "\N{MINUS SIGN}"),
        "sentences": sentences,
        "short": short,
        "svg": inline_svg,
        "unbroken": unbroken,
    }
    return environment


def sentences(text: str) -> Markup:
    """Return sentences as HTML; a number stays on the line of its unit.

    >>> sentences("**5 %** of 3 MB") == "<strong>5\u00a0%</strong> of 3\u00a0MB"
    True

    Args:
        text: HTML, or plain text with ``**bold**`` and ``*emphasis*``.
    """
    html = text if isinstance(text, Markup) else to_html(text)
    return Markup(NUMBER_AND_UNIT.sub("\u00a0", " ".join(str(html).split())))


def short(number: float) -> str:
    """Return a number with about two digits.

    >>> short(12.3), short(1.23), short(0.0123)
    ('12', '1.2', '0.012')
    """
    if number >= 10:
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 1 else f"{number:.2g}"


def unbroken(name: str) -> Markup:
    """Return a row's name as HTML in which "(n = 5)" and "3-way" are not broken over lines."""
    whole = re.sub(r"\d+-(?:way|shot)\b", r'<span class="whole">\g<0></span>', to_html(name))
    return Markup(re.sub(r"\(n = ([\d to]+)\)$", r'<span class="n">(n = \1)</span>', whole))


def inline_svg(picture: Picture, name: str, title: str) -> Markup:
    """Return a figure as an element whose colours follow the page, with a text alternative.

    >>> from nodegraft.analysis.rendering.drawing import panel
    >>> svg = inline_svg(Picture("one", "Says 5 < 6.", panel("", "")[0]), "curves", "Curves")
    >>> svg[svg.index("<title") : svg.index("</desc>")]
    Markup('<title id="curves-title">Curves</title><desc id="curves-description">Says 5 &lt; 6.')

    Args:
        name: Prefix of the element's ids, different for every figure of the page.
    """
    text = picture.svg[picture.svg.index("<svg") :]
    # Names of namespaces mean nothing in HTML, and would look like links to other sites.
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="|url\()#', rf"\1#{name}-", text)
    for colour, shade in SHADES.items():
        text = text.replace(colour.lower(), shade)
    box = re.search(r'viewBox="[^"]*"', text)
    labels = f"{name}-title {name}-description"
    opening = (
        f'<svg {box[0] if box else ""} role="img" aria-labelledby="{labels}">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-description">{escape(picture.description)}</desc>'
    )
    return Markup(re.sub(r"<svg[^>]*>", lambda _: opening, text, count=1).strip())

"""What a page begins with: which method to use and why."""

from html import escape

from nodegraft.analysis.rendering.markup import sentences_to_html
from nodegraft.lab.report.figures.recommendation import draw_recommendation
from nodegraft.lab.report.page.inline_svg import figure_html
from nodegraft.lab.report.page.section import Section
from nodegraft.lab.report.recommendation import (
    Recommendation,
    alternative_texts,
    certainty_text,
    reason_text,
    recommend,
    upper_reference_text,
)

PURPOSE = "to teach a graph model new classes from a handful of labelled nodes each"
TASK = (
    "How it was measured: a model is trained on some classes of a graph; then new classes arrive, "
    "session after session, each with a handful of labelled nodes, and after every session it is "
    "asked about unseen nodes of all classes so far, whose labels no model is given."
)
GLOSSARY_LINK = '<a href="#words">What the words mean.</a>'


def first_screen_html(section: Section) -> str:
    """From the records of one suite; says so where they do not suffice.

    Args:
        section: The suite that compares the methods to choose from.
    """
    recommendation = recommend(section.groups)
    if recommendation is None:
        return (
            f'<header>\n<h1>nodegraft report</h1>\n<p class="what">{TASK} {GLOSSARY_LINK}</p>\n'
            "<p>Which method to use cannot be said yet: fewer than two methods of "
            f"“{escape(section.title)}” are on record for all of its graphs.</p>\n</header>"
        )
    left = (
        f'<p class="lead">{sentences_to_html(reason_text(recommendation))}</p>\n'
        f"<p>{sentences_to_html(certainty_text(recommendation))} "
        f"{sentences_to_html(upper_reference_text(section.groups))}</p>\n{_alternatives(recommendation)}"
    )
    picture = draw_recommendation(recommendation, section.styles)
    figure = figure_html(picture, "first", "After the last session")
    note = escape(section.note)
    known = " ".join(part for part in (TASK, note, section.history, _so_far(section)) if part)
    right = f'{figure}\n<p class="what">{known} {GLOSSARY_LINK}</p>\n'
    return (
        f"<header>\n<h1>Use {escape(recommendation.winner)} <small>{PURPOSE}</small></h1>\n"
        f'<div class="first">\n<div>\n{left}</div>\n<div>\n{right}</div>\n</div>\n</header>'
    )


def _so_far(section: Section) -> str:
    done, planned = len(section.recorded), len(section.pairs)
    return f"So far {done} of {planned} runs are on record." if done < planned else ""


def _alternatives(recommendation: Recommendation) -> str:
    texts = alternative_texts(recommendation)
    if not texts:
        return ""
    items = "".join(f"<li>{sentences_to_html(text)}</li>\n" for text in texts)
    return f"<p><strong>When to use something else</strong></p>\n<ul>\n{items}</ul>\n"

"""What a page begins with: which method to use and why."""

from html import escape

from nodegraft.report.figures.recommendation import draw_recommendation
from nodegraft.report.page.inline_svg import figure_html
from nodegraft.report.page.section import Section
from nodegraft.report.recommendation import (
    Recommendation,
    ceiling,
    certainty,
    exceptions,
    judge,
    why,
)
from nodegraft.report.tables.markup import prose

PURPOSE = "to teach a graph model new classes from a handful of labelled nodes each"
TASK = (
    "How it was measured: a model is trained on some classes of a graph; then new classes arrive, "
    "session after session, each with a handful of labelled nodes, and after every session it is "
    "asked about unseen nodes of all classes so far, whose labels never reach a model."
)
TERMS = '<a href="#words">What the words mean.</a>'


def first_screen(section: Section) -> str:
    """From the records of one suite; says so where they do not suffice."""
    verdict = judge(section.groups)
    if verdict is None:
        return (
            f'<header>\n<h1>nodegraft report</h1>\n<p class="what">{TASK} {TERMS}</p>\n'
            "<p>Which method to use cannot be said yet: fewer than two methods of "
            f"“{escape(section.title)}” are on record for all of its graphs.</p>\n</header>"
        )
    left = (
        f'<p class="lead">{prose(why(verdict))}</p>\n<p>{prose(certainty(verdict))} '
        f"{prose(ceiling(section.groups))}</p>\n{_otherwise(verdict)}"
    )
    figure = figure_html(draw_recommendation(verdict), "first", "After the last session")
    right = f'{figure}\n<p class="what">{TASK} {_so_far(section)}{TERMS}</p>\n'
    return (
        f"<header>\n<h1>Use {escape(verdict.winner)} <small>{PURPOSE}</small></h1>\n"
        f'<div class="first">\n<div>\n{left}</div>\n<div>\n{right}</div>\n</div>\n</header>'
    )


def _so_far(section: Section) -> str:
    done, planned = len(section.recorded), len(section.pairs)
    return f"So far {done} of {planned} runs are on record. " if done < planned else ""


def _otherwise(verdict: Recommendation) -> str:
    found = exceptions(verdict)
    if not found:
        return ""
    items = "".join(f"<li>{prose(one)}</li>\n" for one in found)
    return f"<p><strong>When to use something else</strong></p>\n<ul>\n{items}</ul>\n"

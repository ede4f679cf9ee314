"""The page of a report: one HTML file that needs nothing else, not even scripts."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from nodegraft.analysis.rendering.markup import sentences_to_html
from nodegraft.analysis.rendering.picture import Picture
from nodegraft.lab.report.figures.catalogue import FIGURES
from nodegraft.lab.report.figures.embedding_map import HOW_TO_READ, EmbeddingMap
from nodegraft.lab.report.page.first_screen import first_screen_html
from nodegraft.lab.report.page.glossary import GLOSSARY
from nodegraft.lab.report.page.inline_svg import figure_html
from nodegraft.lab.report.page.provenance import (
    bench_command,
    run_command,
    seeds_by_method,
    seeds_text,
)
from nodegraft.lab.report.page.section import Section, main_section

MAPS = "Maps of what a method sees"
MEANS = "Macro accuracy in %, mean ± half of the 95 % interval over seeds"
# Kind of table -> its title, and how it is read.
TABLES = {
    "overview": ("Overview", f"{MEANS}; leaky numbers are of the published protocol."),
    "last-session": ("After the last session", f"{MEANS}, over all classes."),
    "sessions": (
        "Every session",
        f"Columns 0, 1, … are sessions. {MEANS}; PD in points, RPD in %.",
    ),
    "sessions-in-full": (
        "Every session, and what it cost",
        f"Columns 0, 1, … are sessions, best last session first. {MEANS}; PD in points, RPD in %.",
    ),
    "known-and-novel": ("Known and novel classes", f"Columns 0, 1, … are sessions. {MEANS}."),
    "matrix": (
        "Variants side by side",
        f"{MEANS}: at session 0 (A0), after the last one, and then on known and on novel classes.",
    ),
    "comparison": (
        "Methods compared",
        f"Best last session first. {MEANS}; “behind” in points, paired by seed. Known and novel "
        "are accuracies on these classes after the last session.",
    ),
    "new-classes": (
        "What new classes cost",
        f"Best last session first. {MEANS}; “lost per new class” is A0 minus last in points, "
        "divided by the number of new classes. Seconds are those of learning a session and "
        "answering what is asked then.",
    ),
    "unknown-classes": (
        "Classes still to come",
        "The chance, in %, that a method is surer of a node of a class it was taught than of a "
        "node of one it will be taught later (AUROC), over the sessions between the first and the "
        "last; mean ± half of the 95 % interval over seeds. 50 is guessing.",
    ),
}


def page_html(sections: Sequence[Section], maps: Sequence[EmbeddingMap]) -> str:
    """The whole page; sections without a record are only named.

    Args:
        sections: The suites, in the order of the page; see with_styles().
        maps: Maps of embeddings, shown after the sections with figures.
    """
    shown = [section for section in sections if section.recorded]
    missing = [section for section in sections if not section.recorded]
    drawn = [section for section in shown if section.suite.figures]
    rest = [section for section in shown if not section.suite.figures]
    parts = [
        first_screen_html(main_section(shown)),
        _contents(drawn, rest, bool(maps)),
        *map(_section, drawn),
        _maps(maps) if maps else "",
        *map(_section, rest),
        _left_out(missing) if missing else "",
        _glossary(),
    ]
    style = files("nodegraft.lab.report.page").joinpath("page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>nodegraft report</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body>\n</html>\n"
    )


def _contents(drawn: Sequence[Section], rest: Sequence[Section], has_maps: bool) -> str:
    links = {section.name: section.title for section in drawn}
    links |= {"maps": MAPS} if has_maps else {}
    links |= {section.name: section.title for section in rest}
    links |= {"words": "What the words mean"}
    items = "".join(f'<li><a href="#{n}">{escape(title)}</a></li>\n' for n, title in links.items())
    return f'<nav aria-label="Contents">\n<ul>\n{items}</ul>\n</nav>'


def _section(section: Section) -> str:
    parts = [f'<section id="{section.name}">\n<h2>{escape(section.title)}</h2>']
    told = filter(None, (escape(section.note), section.history))
    parts += [f'<p class="reading">{one}</p>' for one in told]
    for kind, pictures in section.pictures.items():
        figure = FIGURES[kind]
        below = figure.how_to_read if pictures else "Too little is on record to draw this yet."
        parts.append(_heading(figure.title, below))
        parts.append(_panels(pictures, f"{section.name}-{kind}", figure.title))
        parts.append(_source(section))
    for kind, tables in section.tables.items():
        parts.append(_heading(*TABLES[kind]))
        parts += [table.html() for table in tables]
        parts.append(_source(section))
    return "\n".join([*parts, "</section>"])


def _heading(title: str, how_to_read: str) -> str:
    return f'<h3>{title}</h3>\n<p class="reading">{sentences_to_html(how_to_read)}</p>'


def _panels(pictures: Sequence[Picture], name: str, title: str) -> str:
    drawn = [figure_html(one, f"{name}-{one.name}", f"{title}: {one.name}") for one in pictures]
    return '<div class="panels">\n' + "\n".join(drawn) + "\n</div>"


def _source(section: Section) -> str:
    done, all_jobs = section.recorded, section.pairs
    count = f"{len(done)} of {len(all_jobs)} jobs recorded"
    if len(done) == len(all_jobs):
        count = f"all {len(all_jobs)} jobs recorded"
    return (
        f'<details class="source"><summary>{count}, {seeds_text(done)}; how to reproduce it'
        f"</summary>\n{_commands(section)}"
        f"<p>Seeds on a graph: {escape(seeds_by_method(done))}.</p>\n</details>"
    )


def _commands(section: Section) -> str:
    if section.command:
        return f"<p><code>{escape(section.command)}</code></p>\n"
    return (
        f"<p>All records: <code>{escape(bench_command(section.path))}</code></p>\n"
        f"<p>One of them: <code>{escape(run_command(section.recorded[0].job))}</code></p>\n"
    )


def _maps(maps: Sequence[EmbeddingMap]) -> str:
    parts = [f'<section id="maps">\n<h2>{MAPS}</h2>\n<p class="reading">{HOW_TO_READ}</p>']
    for one in maps:
        parts.append(_panels(one.pictures, f"map-{one.name}", MAPS))
        parts.append(
            '<details class="source"><summary>1 seed; how to reproduce it</summary>\n'
            f"<p><code>{escape(one.command)}</code></p>\n</details>"
        )
    return "\n".join([*parts, "</section>"])


def _left_out(sections: Sequence[Section]) -> str:
    names = ", ".join(f"<code>{escape(section.path)}</code>" for section in sections)
    return f"<p>Left out, because none of their jobs is on record: {names}.</p>"


def _glossary() -> str:
    terms = "".join(f"<dt>{term}</dt>\n<dd>{text}</dd>\n" for term, text in GLOSSARY.items())
    return f'<section id="words">\n<h2>What the words mean</h2>\n<dl>\n{terms}</dl>\n</section>'

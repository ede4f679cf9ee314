"""Writer of reports: one HTML page without scripts, plus a file for every table and figure."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from html import escape
from pathlib import Path

from nodegraft.analysis.own_labels.comparison import Evaluation
from nodegraft.analysis.own_labels.own_stream import ARRIVAL
from nodegraft.analysis.rendering import drawing
from nodegraft.analysis.rendering.drawing import Picture
from nodegraft.analysis.rendering.table import Table, to_html
from nodegraft.base.errors import ParameterError
from nodegraft.base.extras import extra
from nodegraft.lab.benchmark.archive import read_documents
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.suite import Suite, SuiteEntry
from nodegraft.lab.report.against_others import AgainstOthers, against_others, draw_against_others
from nodegraft.lab.report.figures.catalogue import FIGURES
from nodegraft.lab.report.figures.embedding_map import EmbeddingMap, read_maps
from nodegraft.lab.report.figures.points import draw_recommendation
from nodegraft.lab.report.figures.styles import PAPERS_METHOD
from nodegraft.lab.report.groups import Record
from nodegraft.lab.report.recommendation import recommend
from nodegraft.lab.report.section import (
    HELD_OUT,
    Section,
    evaluate_command,
    main_section,
    read_sections,
    with_styles,
)
from nodegraft.lab.report.tables import TABLES, range_text

with extra("lab", package="jinja2", purpose="Writing a report"):
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

# Figure colour -> CSS variable, whose value depends on light or dark mode; see page.css.
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
    """Return the HTML of the report; of sections without records, only the name is listed.

    Args:
        sections: Sections in the order of the page, with styles from with_styles().
        maps: Embedding maps, shown after the sections with figures.
        evaluation: Comparison of methods on a store's own labels; the page shows its
            recommendation.
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
            notes=[
                section.note
                for section in recorded
                if section.name == HELD_OUT and section is not main
            ],
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
    """Return the table at the top of the page, which compares methods on each graph."""
    rows = [
        (
            f"{graph.dataset}{' *' * graph.is_held_out}",
            f"{graph.accuracy:.1f}",
            graph.best.name,
            f"{graph.best.accuracy:.1f}",
            str(graph.best),
            f"{graph.papers.accuracy:.1f}" if graph.papers else "–",
            str(graph.papers) if graph.papers else "–",
            f"{graph.best.lead.seeds}",
        )
        for graph in comparison.graphs
    ]
    head = ("graph", f"{comparison.method} %", "best other method", "its %", "difference")
    papers = (f"{PAPERS_METHOD} %", "difference", "seeds")
    caption = (
        "Macro accuracy after the last session; differences in points, paired by seed, with half "
        "of the 95 % interval. Seeds are those of the best other method."
    )
    return Table.of((*head, *papers), rows, caption)


def templates() -> Environment:
    """Return the Jinja environment that loads the report templates and defines their filters."""
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
    """Convert sentences to HTML, with non-breaking spaces between numbers and units.

    >>> sentences("**5 %** of 3 MB") == "<strong>5\u00a0%</strong> of 3\u00a0MB"
    True

    Args:
        text: HTML, or plain text with ``**bold**`` and ``*emphasis*``.
    """
    html = text if isinstance(text, Markup) else to_html(text)
    return Markup(NUMBER_AND_UNIT.sub("\u00a0", " ".join(str(html).split())))


def short(number: float) -> str:
    """Format a number with about two digits.

    >>> short(12.3), short(1.23), short(0.0123)
    ('12', '1.2', '0.012')
    """
    if number >= 10:
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 1 else f"{number:.2g}"


def unbroken(name: str) -> Markup:
    """Convert a row's name to HTML without line breaks inside "(n = 5)" and "3-way"."""
    whole = re.sub(r"\d+-(?:way|shot)\b", r'<span class="whole">\g<0></span>', to_html(name))
    return Markup(re.sub(r"\(n = ([\d to]+)\)$", r'<span class="n">(n = \1)</span>', whole))


def inline_svg(picture: Picture, name: str, title: str) -> Markup:
    """Convert a figure to inline SVG with the page's colours and a text alternative.

    >>> from nodegraft.analysis.rendering.drawing import panel
    >>> svg = inline_svg(Picture("one", "Says 5 < 6.", panel("", "")[0]), "curves", "Curves")
    >>> svg[svg.index("<title") : svg.index("</desc>")]
    Markup('<title id="curves-title">Curves</title><desc id="curves-description">Says 5 &lt; 6.')

    Args:
        name: Prefix of the element's ids, unique for each figure of the page.
    """
    text = picture.svg[picture.svg.index("<svg") :]
    # Remove XML namespaces: HTML ignores them, and their URLs would look like links to other sites.
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


EVALUATION_TABLES = ("new-classes", "comparison", "sessions")
EVALUATION_FIGURES = ("curves", "pareto", "risk-coverage")


def write_report(runs: str | Path, suites: Path, out: Path) -> Path:
    """Write a report on run records; return the path of the page."""
    records = read_documents(runs)
    if not records:
        raise ParameterError(
            f"There are no run records in {runs}: make some with `nodegraft lab bench`."
        )
    sections = read_sections(suites, records)
    if not any(section.recorded for section in sections):
        raise ParameterError(f"No record in {runs} belongs to a suite at {suites}.")
    return _write_site(sections, read_maps(Path(runs) / "maps"), out)


def write_evaluation(evaluation: Evaluation, store: str, out: Path) -> Path:
    """Write a report that compares methods on a store's own labels; return the path of the page.

    The numbers are also written as JSON, to ``evaluation.json``.
    """
    pairs = list(_pairs(evaluation, re.sub(r"[^\w.-]+", "-", store)))
    suite = Suite(
        f"Methods on the labels of version {evaluation.version}",
        EVALUATION_TABLES,
        EVALUATION_FIGURES,
        tuple(entry for entry, _ in pairs),
    )
    command = evaluate_command(evaluation, store)
    section = Section("evaluation", suite, pairs, command=command, note=evaluation.plan.exclusion())
    page = _write_site(with_styles([section]), [], out, evaluation)
    numbers = json.dumps(evaluation.to_json(), indent=1, ensure_ascii=False)
    (out / "evaluation.json").write_text(numbers + "\n", "utf-8")
    return page


def _pairs(evaluation: Evaluation, graph: str) -> Iterator[tuple[SuiteEntry, Record]]:
    """Yield a pair for each run of an evaluation: suite entry and run record."""
    for measured in evaluation.methods:
        for seed, stream in enumerate(measured.streams):
            job = Job(dataset=graph, method=measured.method, seed=seed, arrival=ARRIVAL)
            record = {
                "seed": seed,
                "setting": asdict(evaluation.plan.setting),
                "sessions": [vars(session) for session in stream.sessions],
                "summary": stream.summary,
            }
            yield SuiteEntry(measured.method, job), record


def _write_site(
    sections: Sequence[Section],
    maps: Sequence[EmbeddingMap],
    out: Path,
    evaluation: Evaluation | None = None,
) -> Path:
    texts: dict[str, str] = {}
    for section in sections:
        if section.recorded:
            texts |= _section_files(section)
    for page_map in maps:
        for picture in page_map.pictures:
            texts[f"figures/map-{page_map.name}-{picture.name}.svg"] = picture.svg
    texts["index.html"] = page_html(sections, maps, evaluation)
    for name, text in texts.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, "utf-8")
    return out / "index.html"


def _section_files(section: Section) -> dict[str, str]:
    """Return the contents of a section's table and figure files, by file name."""
    texts = {}
    for kind, tables in section.tables.items():
        titled = [replace(table, caption=table.caption or section.title) for table in tables]
        name = f"tables/{section.name}-{kind}"
        texts[f"{name}.md"] = "\n\n".join(table.markdown() for table in titled) + "\n"
        texts[f"{name}.tex"] = "\n\n".join(table.latex() for table in titled) + "\n"
    for kind, pictures in section.pictures.items():
        for picture in pictures:
            texts[f"figures/{section.name}-{kind}-{picture.name}.svg"] = picture.svg
    return texts

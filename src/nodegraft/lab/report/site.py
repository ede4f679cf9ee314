"""Writing a report: one page, and beside it every table and figure as a file of its own."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from nodegraft.analysis.own_labels.comparison import Evaluation
from nodegraft.analysis.own_labels.own_stream import ARRIVAL
from nodegraft.base.errors import ParameterError
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.records.archive import read_documents
from nodegraft.lab.benchmark.suite import Suite, SuiteEntry
from nodegraft.lab.report.commands import evaluate_command
from nodegraft.lab.report.figures.embedding_map import EmbeddingMap, read_maps
from nodegraft.lab.report.groups import Record
from nodegraft.lab.report.page import page_html
from nodegraft.lab.report.section import Section, read_sections, with_styles

EVALUATION_TABLES = ("new-classes", "comparison", "sessions")
EVALUATION_FIGURES = ("curves", "pareto", "risk-coverage")


def write_report(runs: str | Path, suites: Path, out: Path) -> Path:
    """Write a report on run records; return the page's path."""
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
    """Write a report on methods compared on a store's own labels; return the page's path.

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
    """Yield an entry and its record for each run, as if a suite had asked for them."""
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
    for drawn in maps:
        for picture in drawn.pictures:
            texts[f"figures/map-{drawn.name}-{picture.name}.svg"] = picture.svg
    texts["index.html"] = page_html(sections, maps, evaluation)
    for name, text in texts.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, "utf-8")
    return out / "index.html"


def _section_files(section: Section) -> dict[str, str]:
    """Return file name -> text of a section's tables and figures."""
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

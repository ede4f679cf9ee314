"""Writes a report: one page, and beside it every table and figure as a file of its own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.errors import ParameterError
from nodegraft.lab.benchmark.records.archive import read_documents
from nodegraft.lab.report.figures.embedding_map import EmbeddingMap, read_maps
from nodegraft.lab.report.page.page import page_html
from nodegraft.lab.report.page.section import Section, read_sections


def write_report(runs: str | Path, suites: Path, out: Path) -> Path:
    """From run records; returns the page's path.

    Args:
        runs: A folder or URL of run records.
        suites: A folder of suites, or one of them.
        out: The folder for page, tables and figures.
    """
    records = read_documents(runs)
    if not records:
        raise ParameterError(
            f"There are no run records in {runs}: make some with `nodegraft lab bench`."
        )
    sections = read_sections(suites, records)
    if not any(section.recorded for section in sections):
        raise ParameterError(f"No record in {runs} belongs to a suite at {suites}.")
    return write_site(sections, read_maps(Path(runs) / "maps"), out)


def write_site(sections: Sequence[Section], maps: Sequence[EmbeddingMap], out: Path) -> Path:
    """The page, its tables and figures; returns the page's path.

    Args:
        sections: What it is about; see with_styles().
        maps: Maps of embeddings.
        out: The folder for page, tables and figures.
    """
    for section in sections:
        if section.recorded:
            _write_section(section, out)
    for one in maps:
        for picture in one.pictures:
            _write(out / "figures" / f"map-{one.name}-{picture.name}.svg", picture.svg)
    path = out / "index.html"
    _write(path, page_html(sections, maps))
    return path


def _write_section(section: Section, out: Path) -> None:
    for kind, tables in section.tables.items():
        titled = [replace(one, caption=one.caption or section.title) for one in tables]
        name = f"{section.name}-{kind}"
        _write_tables(titled, out / "tables" / name)
    for kind, pictures in section.pictures.items():
        for picture in pictures:
            name = f"{section.name}-{kind}-{picture.name}.svg"
            _write(out / "figures" / name, picture.svg)


def _write_tables(tables: Sequence[Table], path: Path) -> None:
    _write(path.with_suffix(".md"), "\n\n".join(one.markdown() for one in tables) + "\n")
    _write(path.with_suffix(".tex"), "\n\n".join(one.latex() for one in tables) + "\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")

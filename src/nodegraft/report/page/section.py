"""What a report says about one suite: its tables and figures, of what is on record."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from nodegraft.base.errors import ParameterError
from nodegraft.benchmark.suite import Suite, SuiteEntry
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.figures.catalogue import draw_figures
from nodegraft.report.groups import Groups, Record, counts, group
from nodegraft.report.tables.catalogue import make_tables
from nodegraft.report.tables.table import Table

# The suite that the first screen is about.
MAIN = "benchmark"
# Tables whose rows are methods to choose from, not variants of one.
COMPARING = {"comparison", "sessions", "sessions-in-full"}


@dataclass(frozen=True)
class Section:
    """A suite and what its jobs recorded; ``place`` is the suite's file as commands name it."""

    place: str
    suite: Suite
    pairs: Sequence[tuple[SuiteEntry, Record | None]]

    @property
    def name(self) -> str:
        """Of the file, for links."""
        return Path(self.place).stem

    @property
    def title(self) -> str:
        """For people."""
        return self.suite.title or self.name

    @property
    def recorded(self) -> list[SuiteEntry]:
        """The jobs that are on record."""
        return [entry for entry, record in self.pairs if record is not None]

    @cached_property
    def groups(self) -> Groups:
        """The records by dataset, method and protocol."""
        return group(self.pairs)

    @cached_property
    def tables(self) -> Mapping[str, list[Table]]:
        """By the names the suite asks for them."""
        return {name: make_tables([name], self.groups) for name in self.suite.tables}

    @cached_property
    def pictures(self) -> Mapping[str, list[Picture]]:
        """By the names the suite asks for them."""
        return draw_figures(self.suite.figures, self.groups)


def read_sections(place: Path, records: Sequence[Record]) -> list[Section]:
    """Every suite of a folder, or that of one file: the main one, then those with figures."""
    files = sorted(place.glob("*.toml")) if place.is_dir() else [place] * place.is_file()
    if not files:
        raise ParameterError(
            f"There are no suites at {place}: call this from a checkout of nodegraft, or say "
            "with --suites where a folder of TOML files (or one) is."
        )
    sections = _told_apart([_read(file, records) for file in files])
    return sorted(sections, key=lambda one: (one.name != MAIN, not one.suite.figures, one.name))


def main_section(sections: Sequence[Section]) -> Section:
    """What the first screen is about: the benchmark, or else what compares most methods."""

    def worth(section: Section) -> tuple[bool, bool, int]:
        compares = not COMPARING.isdisjoint(section.suite.tables)
        return section.name == MAIN, compares, len(counts(section.groups))

    return max(sections, key=worth)


def _read(file: Path, records: Sequence[Record]) -> Section:
    suite = Suite.read(file)
    # A page must not tell about the folders of the machine it was made on.
    shown = file.as_posix() if not file.is_absolute() else f"{file.parent.name}/{file.name}"
    return Section(shown, suite, suite.with_records(records))


def _told_apart(sections: list[Section]) -> list[Section]:
    """Titles that several suites have get the names of their files."""
    often = Counter(section.title for section in sections)
    return [
        replace(one, suite=replace(one.suite, title=f"{one.title} ({one.name})"))
        if often[one.title] > 1
        else one
        for one in sections
    ]

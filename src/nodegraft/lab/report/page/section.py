"""What a report says about one suite: its tables and figures, of what is on record."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from nodegraft.analysis.rendering.picture import Picture
from nodegraft.analysis.rendering.table import Table
from nodegraft.base.errors import ParameterError
from nodegraft.lab.benchmark.suite import Suite, SuiteEntry
from nodegraft.lab.report.figures.catalogue import draw_figures
from nodegraft.lab.report.figures.styles import (
    Styles,
    assign_styles,
    highlighted_methods,
    styles_of_section,
)
from nodegraft.lab.report.groups import (
    Groups,
    Record,
    group,
    merge_settings,
    ranking,
    run_counts,
    without_setting,
)
from nodegraft.lab.report.tables.catalogue import make_tables
from nodegraft.streams.stream import STREAM_VERSION

# The suite that the first screen is about.
MAIN = "growing"
# Tables whose rows are methods to choose from, not variants of one.
COMPARING = {"comparison", "sessions", "sessions-in-full"}


@dataclass(frozen=True)
class Section:
    """A suite and what its jobs recorded."""

    path: str
    """The suite's file as commands name it."""

    suite: Suite
    """What it asks for."""

    pairs: Sequence[tuple[SuiteEntry, Record | None]]
    """Each of its entries with its record, or with None if it was not run yet."""

    styles: Styles = field(default_factory=dict)
    """Name of a method -> how figures draw it; see with_styles()."""

    command: str = ""
    """What makes its numbers, where they are of no suite's file."""

    note: str = ""
    """What a reader must know of it, or nothing."""

    @property
    def name(self) -> str:
        """The name of the file, for links."""
        return Path(self.path).stem

    @property
    def title(self) -> str:
        """The heading."""
        return self.suite.title or self.name

    @property
    def recorded(self) -> list[SuiteEntry]:
        """The jobs that are on record."""
        return [entry for entry, record in self.pairs if record is not None]

    @property
    def history(self) -> str:
        """What has to be known of records of streams as they are not drawn any more, or nothing."""
        if all(entry.job.stream_version == STREAM_VERSION for entry in self.recorded):
            return ""
        return (
            "History: measured on streams of an earlier version, before rows and keys were made "
            "anonymous; not comparable with what is measured today."
        )

    @cached_property
    def variants(self) -> set[str]:
        """Names of which several stand for one method, as in an ablation; not its own name."""
        names: dict[str, set[str]] = {}
        for entry in self.recorded:
            of_method = names.setdefault(entry.job.method, set())
            of_method.update((entry.name, without_setting(entry.name)))
        several = {method: found for method, found in names.items() if len(found) > 1}
        return {name for method, found in several.items() for name in found - {method}}

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
        return draw_figures(self.suite.figures, self.groups, self.styles)


def read_sections(path: Path, records: Sequence[Record]) -> list[Section]:
    """Every suite of a folder, or that of one file: the main one, then those with figures.

    Args:
        path: A folder of TOML suites, or one of them.
        records: All that is on record; what belongs to no suite is left out.
    """
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path] * path.is_file()
    if not files:
        raise ParameterError(
            f"There are no suites at {path}: call this from a checkout of nodegraft, or say "
            "with --suites where a folder of TOML files (or one) is."
        )
    sections = _with_distinct_titles([_read(file, records) for file in files])
    sections.sort(key=lambda one: (one.name != MAIN, not one.suite.figures, one.name))
    return with_styles(sections)


def with_styles(sections: Sequence[Section]) -> list[Section]:
    """The same sections; a method has the same style in all of them, and on the first screen.

    Args:
        sections: All sections of a report.
    """
    recorded = [section for section in sections if section.recorded]
    if not recorded:
        return list(sections)
    main = main_section(recorded)
    # The winner and the runner-up are on the first screen.
    first = [name for name in ranking(main.groups)[:2] if name not in main.variants]
    styles = assign_styles(map(_highlighted, recorded), first)
    return [
        replace(one, styles=styles_of_section(styles, one.groups, one.variants)) for one in sections
    ]


def _highlighted(section: Section) -> list[str]:
    """The methods that its figures highlight; none where it has no figures."""
    if not section.suite.figures:
        return []
    names = highlighted_methods(merge_settings(section.groups))
    return [name for name in names if name not in section.variants]


def main_section(sections: Sequence[Section]) -> Section:
    """What the first screen is about: the benchmark, or else what compares most methods.

    Args:
        sections: Those with records, at least one.
    """

    def priority(section: Section) -> tuple[bool, bool, int]:
        compares = not COMPARING.isdisjoint(section.suite.tables)
        return section.name == MAIN, compares, len(run_counts(section.groups))

    return max(sections, key=priority)


def _read(file: Path, records: Sequence[Record]) -> Section:
    suite = Suite.read(file)
    # A page must not tell about the folders of the machine it was made on.
    shown = file.as_posix() if not file.is_absolute() else f"{file.parent.name}/{file.name}"
    return Section(shown, suite, suite.with_records(records), note=suite.note)


def _with_distinct_titles(sections: list[Section]) -> list[Section]:
    """Titles that several suites have get the names of their files."""
    often = Counter(section.title for section in sections)
    return [
        replace(one, suite=replace(one.suite, title=f"{one.title} ({one.name})"))
        if often[one.title] > 1
        else one
        for one in sections
    ]

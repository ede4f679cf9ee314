"""Section of a report: tables, figures and commands of one suite, from its run records."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from shlex import join

from nodegraft.analysis.own_labels.comparison import Evaluation
from nodegraft.analysis.rendering.drawing import Picture
from nodegraft.analysis.rendering.table import Table
from nodegraft.base.errors import ParameterError
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.suite import Suite, SuiteEntry
from nodegraft.lab.report import groups
from nodegraft.lab.report.figures.catalogue import draw_figures
from nodegraft.lab.report.figures.styles import (
    Styles,
    assign_styles,
    highlighted_methods,
    styles_of_section,
)
from nodegraft.lab.report.tables import make_tables, range_text

# Suite whose results are at the top of the report.
MAIN = "growing"
# Suite of the held-out graphs, whose results are at the top of the report, too.
HELD_OUT = "held-out"
# Kinds of tables whose rows are different methods, not variants of one method.
COMPARING = {"comparison", "sessions", "sessions-in-full"}


@dataclass(frozen=True)
class Section:
    """Section of a report: a suite and the records of its jobs."""

    path: str
    """Path of the suite's file."""

    suite: Suite
    """Suite of the section: its jobs, tables and figures."""

    pairs: Sequence[tuple[SuiteEntry, groups.Record | None]]
    """Each entry of the suite with its record, or with None if it was not run yet."""

    styles: Styles = field(default_factory=dict)
    """Styles of highlighted methods in figures, by method name; see with_styles()."""

    command: str = ""
    """Command that reproduces the numbers, if they do not come from a suite file."""

    note: str = ""
    """Remark for readers of the numbers; empty if there is none."""

    @property
    def name(self) -> str:
        """File name of the suite without its suffix, used in links."""
        return Path(self.path).stem

    @property
    def title(self) -> str:
        """Heading of the section."""
        return self.suite.title or self.name

    @property
    def recorded(self) -> list[SuiteEntry]:
        """Entries of the suite that have a record."""
        return [entry for entry, record in self.pairs if record is not None]

    @property
    def bench_command(self) -> str:
        """Command that runs all jobs of the suite and writes their records."""
        return bench_command(self.path)

    @property
    def run_command(self) -> str:
        """Command that runs the first job of the suite and writes its record."""
        return run_command(self.recorded[0].job)

    @property
    def seeds(self) -> str:
        """Text with the minimum and maximum number of seeds of a method on a dataset."""
        sizes = [size for counts in self._seed_counts().values() for size in counts]
        return f"{range_text(sizes)} seed{'s' if max(sizes) > 1 else ''}"

    @property
    def seeds_by_method(self) -> str:
        """Text with the number of seeds of each method."""
        return ", ".join(f"{name} {range_text(c)}" for name, c in self._seed_counts().items())

    def _seed_counts(self) -> dict[str, list[int]]:
        """Return the numbers of seeds by method: one number for each dataset and protocol."""
        runs = Counter((e.name, e.job.dataset, e.job.protocol) for e in self.recorded)
        counts: dict[str, list[int]] = {}
        for (name, _, _), count in runs.items():
            counts.setdefault(name, []).append(count)
        return counts

    @cached_property
    def variants(self) -> set[str]:
        """Names of entries that are variants of one method, as in an ablation study."""
        names: dict[str, set[str]] = {}
        for entry in self.recorded:
            of_method = names.setdefault(entry.job.method, set())
            of_method.update((entry.name, groups.without_setting(entry.name)))
        several = {method: own for method, own in names.items() if len(own) > 1}
        return {name for method, own in several.items() for name in own - {method}}

    @cached_property
    def groups(self) -> groups.Groups:
        """Run records grouped by dataset, method and protocol."""
        return groups.group(self.pairs)

    @cached_property
    def tables(self) -> Mapping[str, list[Table]]:
        """Tables of the section, by kind of table."""
        return {name: make_tables([name], self.groups) for name in self.suite.tables}

    @cached_property
    def pictures(self) -> Mapping[str, list[Picture]]:
        """Figures of the section, by kind of figure."""
        return draw_figures(self.suite.figures, self.groups, self.styles)


def read_sections(path: Path, records: Sequence[groups.Record]) -> list[Section]:
    """Read the suites of a folder or file: the main suite first, then suites with figures.

    Args:
        path: A suite file, or a folder of suite files.
        records: All run records; records that belong to no suite are ignored.
    """
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path] * path.is_file()
    if not files:
        raise ParameterError(
            f"There are no suites at {path}: call this from a checkout of nodegraft, or say "
            "with --suites where a folder of TOML files (or one) is."
        )
    sections = _with_distinct_titles([_read(file, records) for file in files])
    sections.sort(key=lambda each: (each.name != MAIN, not each.suite.figures, each.name))
    return with_styles(sections)


def with_styles(sections: Sequence[Section]) -> list[Section]:
    """Return the sections with figure styles; a method has the same style in every section."""
    recorded = [section for section in sections if section.recorded]
    if not recorded:
        return list(sections)
    main = main_section(recorded)
    # The top of the report shows the winner and the runner-up, so they get the first styles.
    first = [name for name in groups.ranking(main.groups)[:2] if name not in main.variants]
    styles = assign_styles(map(_highlighted, recorded), first)
    return [
        replace(each, styles=styles_of_section(styles, each.groups, each.variants))
        for each in sections
    ]


def _highlighted(section: Section) -> list[str]:
    """Return the methods that a section's figures highlight; none if it has no figures."""
    if not section.suite.figures:
        return []
    names = highlighted_methods(groups.merge_settings(section.groups))
    return [name for name in names if name not in section.variants]


def main_section(sections: Sequence[Section]) -> Section:
    """Return the section for the top of the report: the section of the main suite, if it exists.

    Otherwise, prefer sections that compare methods; among these, the section with most methods.
    """

    def priority(section: Section) -> tuple[bool, bool, int]:
        compares = not COMPARING.isdisjoint(section.suite.tables)
        return section.name == MAIN, compares, len(groups.run_counts(section.groups))

    return max(sections, key=priority)


def _read(file: Path, records: Sequence[groups.Record]) -> Section:
    suite = Suite.read(file)
    # The page must not reveal folder names of the machine that wrote it.
    path = file.as_posix() if not file.is_absolute() else f"{file.parent.name}/{file.name}"
    return Section(path, suite, suite.with_records(records), note=suite.note)


def _with_distinct_titles(sections: list[Section]) -> list[Section]:
    """Append the file name to titles that several suites share."""
    counts = Counter(section.title for section in sections)
    return [
        replace(each, suite=replace(each.suite, title=f"{each.title} ({each.name})"))
        if counts[each.title] > 1
        else each
        for each in sections
    ]


FOLDERS = ("--data", "DIR", "--out", "RUNS")


def bench_command(suite: str) -> str:
    """Return the command that runs all jobs of a suite and writes their records.

    >>> bench_command("experiments/heads.toml")
    'nodegraft lab bench experiments/heads.toml --data DIR --out RUNS'
    """
    return join(["nodegraft", "lab", "bench", suite, *FOLDERS])


def run_command(job: Job) -> str:
    """Return the command that runs one job and writes its record.

    >>> run_command(Job(dataset="gentoo", method="graft", seed=3))
    'nodegraft lab run --dataset gentoo --method graft --seed 3 --data DIR --out RUNS'
    """
    options: list[tuple[str, object]] = [
        ("--dataset", job.dataset),
        ("--method", job.method),
        ("--seed", job.seed),
        *(("--set", f"{name}={_text(value)}") for name, value in job.parameters.items()),
        *(
            ("--dataset-set", f"{name}={_text(value)}")
            for name, value in job.dataset_options.items()
        ),
        ("--ways", job.ways),
        ("--shots", job.shots),
        ("--node-seed", job.node_seed),
        ("--arrival", None if job.arrival == "growing" else job.arrival),
        ("--least-shots", job.least_shots),
        ("--protocol", None if job.protocol == "strict" else job.protocol),
        *(("--without", name) for name in job.without),
    ]
    arguments = [
        text for option, value in options if value is not None for text in (option, str(value))
    ]
    return join(["nodegraft", "lab", "run", *arguments, *["--rehearse"] * job.rehearse, *FOLDERS])


def evaluate_command(evaluation: Evaluation, store: str) -> str:
    """Return the command that repeats a comparison of methods on a store's own labels."""
    arguments = [part for method in evaluation.methods for part in ("--method", method.method)]
    arguments += ["--seeds", str(evaluation.seeds), "--shots", str(evaluation.plan.setting.shots)]
    return join(["nodegraft", "evaluate", store, *arguments, "--version", str(evaluation.version)])


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

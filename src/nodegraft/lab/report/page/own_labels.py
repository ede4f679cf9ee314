"""The page about methods that were compared on a store's own labels."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from nodegraft.analysis.own_labels.comparison import Evaluation
from nodegraft.analysis.own_labels.own_stream import ARRIVAL
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.suite import Suite, SuiteEntry
from nodegraft.lab.report.groups import Record
from nodegraft.lab.report.page.provenance import evaluate_command
from nodegraft.lab.report.page.section import Section, with_styles
from nodegraft.lab.report.page.site import write_site

TABLES, FIGURES = ("new-classes", "comparison", "sessions"), ("curves", "pareto", "risk-coverage")
"""What the page shows, by the names that suites ask for it."""


def write_evaluation(found: Evaluation, store: str, out: Path) -> Path:
    """The page with its tables and figures, and the numbers as JSON; returns the page's path.

    Args:
        found: What was measured.
        store: The name of the store's folder.
        out: The folder for all of it.
    """
    page = write_site(with_styles([evaluation_section(found, store)]), [], out)
    numbers = json.dumps(found.to_json(), indent=1, ensure_ascii=False)
    (out / "evaluation.json").write_text(numbers + "\n", "utf-8")
    return page


def evaluation_section(found: Evaluation, store: str) -> Section:
    """What was measured, as a report shows the records of a suite.

    Args:
        found: What was measured.
        store: The name of the store's folder.
    """
    pairs = list(_pairs(found, re.sub(r"[^\w.-]+", "-", store)))
    suite = Suite(
        f"Methods on the labels of version {found.version}",
        TABLES,
        FIGURES,
        tuple(entry for entry, _ in pairs),
    )
    command = evaluate_command(found, store)
    return Section("evaluation", suite, pairs, command=command, note=found.plan.exclusion())


def _pairs(found: Evaluation, graph: str) -> Iterator[tuple[SuiteEntry, Record]]:
    for one in found.methods:
        for seed, stream in enumerate(one.streams):
            job = Job(dataset=graph, method=one.method, seed=seed, arrival=ARRIVAL)
            record = {
                "seed": seed,
                "setting": asdict(found.plan.setting),
                "sessions": [vars(session) for session in stream.sessions],
                "summary": stream.summary,
            }
            yield SuiteEntry(one.method, job), record

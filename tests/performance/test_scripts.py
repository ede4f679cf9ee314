"""Scripts of `performance/` run at a small size and print their rows."""

import importlib
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.service.browser import program
from tests.slow_suite import slow
from tests.test_plain_english import ROOT, banned_in, names_of_one, vague_summaries

FILES = sorted((ROOT / "performance").glob("*.py"))
NUMBER = r"[\d,]+(\.\d+)?"


@dataclass(frozen=True)
class Script:
    """Arguments of a run, and regular expressions of the lines that it must print."""

    arguments: str
    lines: list[str]


def row(first: str, numbers: int) -> str:
    """Return the expression of a row: a first cell, and so many numbers."""
    return rf"{first}(\s+{NUMBER}×?){{{numbers}}}"


def markdown_row(first: str, numbers: int) -> str:
    """Return the expression of a Markdown row with a first cell and so many numbers."""
    return rf"\| {first} \|( {NUMBER} \|){{{numbers}}}( +\|)*"


SCRIPTS = {
    "add_classes": Script(
        "--nodes 5500 --known 10",
        [row(" +5,500", 11), row(" +100,000", 11), "from first to last: add_classes × .*"],
    ),
    "build": Script(
        "--nodes 2000 --keys text",
        [rf"{name} +{NUMBER} s, ratio +{NUMBER}, +{NUMBER} MB" for name in ("build", "read")],
    ),
    "data_parallel": Script(
        "--nodes 5000 --batches 2 --rounds 1",
        [rf"\| {count} \| [\d.]+ \| [\d.]+ \| \d\.\de[-+]\d+ \|" for count in (1, 2)],
    ),
    "encoding": Script(
        "--nodes 3000",
        [
            r"encode +.* nodes/s, .* MB anonymous; \d+ blocks",
            r"predict +.* nodes/s, .* MB anonymous; 3,000 predictions",
            r"memory +.* nodes/s, .*; largest difference [\d.e+-]+, .*% identical",
        ],
    ),
    "episode": Script(
        "--data {data} --rounds 3",
        [
            r"amazon-clothing: [\d.]+ ms per episode",
            r"layers alone: [\d.]+ ms; ratio: median [\d.]+ of 3 rounds",
            r"layers alone, PyG: [\d.]+ ms; ratio: median [\d.]+ of 3 rounds",
        ],
    ),
    "growth": Script(
        "--nodes 2750",
        [rf" +2,750 +20 +{ends}( +{NUMBER}×?){{7}}" for ends in ("even", "hub")],
    ),
    "page_map": Script(
        "--nodes 2000 --chromium {chromium}",
        [
            r"2,000 nodes, .* MiB of JSON .*",
            r"map drawn and zoomed [\d.]+ s after the response; zoom step \d+ ms",
            r"CPU seconds of the tab .*: [\d.]+",
            r"largest memory of the tab \d+ MiB",
        ],
    ),
    "partition_traffic": Script(
        "--nodes 2000", [markdown_row(str(2**power), 4) for power in range(1, 10)]
    ),
    "power_law": Script("--nodes 2000 --out {out}", []),
    "pretrain_step": Script(
        "--nodes 2000 --edges 10000 --features 32 --rounds 2",
        [
            r"bare kernel +median [\d.]+ s, fastest [\d.]+ s",
            r"nodegraft step +median [\d.]+ s, fastest [\d.]+ s",
            r"ratio +median [\d.]+ of 2 rounds",
        ],
    ),
    "propagation": Script(
        "--nodes 3000 --rounds 2",
        [
            *(markdown_row(name, 3) for name in ("bare kernel", "memory", "mapped", "stored")),
            markdown_row("processes", 4),
            r"peak of anonymous memory: \d+ MB; size of a layer: 1 MB",
        ],
    ),
    "runner_overhead": Script(
        "--jobs 2",
        [rf"{name}: bare [\d.]+ s, runner [\d.]+ s, x[\d.]+" for name in ("processes", "Ray")],
    ),
    "score_all": Script("--nodes 2000 --classes 20", [row(" +2,000", 7)]),
    "service": Script(
        "--seconds 3 --rate 10",
        [
            *(
                rf"{title} +p50 +[\d.]+ ms +p99 +[\d.]+ ms"
                for title in ("in process", "bare route", "service", "service, classes are added")
            ),
            r"HTTP adds [\d.]+ ms, x[\d.]+ of a bare route",
            *(
                rf"1,000 nodes as {name}: service [\d.]+ ms of CPU time, in process [\d.]+ ms, "
                r"x[\d.]+ .*"
                for name in ("JSON", "Arrow")
            ),
            r"p99 while classes are added: x[\d.]+",
        ],
    ),
    "trace_files": Script("", [row(name, 2) for name in ("add", "predict", "job", "score")]),
}

QUICK = ("partition_traffic", "power_law")
"""Scripts that run in the gate; each of the others takes longer than five seconds."""

NOT_RUN_HERE = {"faults": "tests/fault/test_kills.py kills the same processes"}

MARKS = {"episode": [pytest.mark.real_data]}


def command(name: str, arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", f"performance.{name}", *arguments]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[*MARKS.get(name, []), *([] if name in QUICK else [slow])])
        for name in SCRIPTS
    ],
)
def test_a_script_prints_its_rows(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    script, values = SCRIPTS[name], {"out": str(tmp_path)}
    if "{data}" in script.arguments:
        values["data"] = str(request.getfixturevalue("real_data"))
    if "{chromium}" in script.arguments:
        values["chromium"] = program()
    arguments = [argument.format(**values) for argument in script.arguments.split()]
    run = subprocess.run(command(name, arguments), cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "Warning" not in run.stderr
    missing = [
        line for line in script.lines if not re.search(f"^{line} *$", run.stdout, re.MULTILINE)
    ]
    assert missing == [], run.stdout
    if name == "power_law":
        tables = {path.parent.name for path in tmp_path.glob("*/part-00000.parquet")}
        assert tables == {"nodes", "edges", "labels"}


def test_no_script_is_forgotten() -> None:
    scripts = {file.stem for file in FILES if '__name__ == "__main__"' in file.read_text()}
    assert scripts == SCRIPTS.keys() | NOT_RUN_HERE.keys()


@pytest.mark.parametrize(("name", "needed"), [("add_classes", "5,500"), ("growth", "2,750")])
def test_too_few_nodes_are_refused(
    name: str, needed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--nodes", "2000"])
    with pytest.raises(SystemExit) as end:
        importlib.import_module(f"performance.{name}").main()
    assert end.value.code == 2
    assert f"need {needed} nodes, not 2,000: give a larger --nodes" in capsys.readouterr().err


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_texts_use_the_words_of_the_glossary(file: Path) -> None:
    source = file.read_text()
    assert [*banned_in(source), *vague_summaries(source), *names_of_one(source)] == []

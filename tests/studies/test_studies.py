"""Pages of studies say what their records say."""

from collections.abc import Callable
from pathlib import Path

import pytest
from studies.record_file import PAGES, measure_missing, read

from nodegraft.analysis.rendering.drawing import save_svg
from nodegraft.lab.report.figures.attention import draw_attention
from studies import (
    age_prior,
    attention,
    attention_figure,
    cheats,
    class_tree,
    class_tree_page,
    confidence,
    edge_drift,
    gate,
    kinds,
    new_classes,
    new_rows,
    published,
    record_file,
    refitting,
    sampled_training,
    scale,
    searches,
    seeds,
    several_labels,
    sizes,
    suggesting,
    text_encoders,
)
from tests.test_plain_english import ROOT, names_of_one, vague_summaries

STUDIES = sorted((ROOT / "studies").rglob("*.py"))

PAGES_OF_STUDIES: list[tuple[str, Callable[[], str]]] = [
    (
        "published-measured.md",
        lambda: published.page_text(read(published.RECORDS), read(published.AUTHORS)),
    ),
    ("cheats-measured.md", lambda: cheats.page_text(read(cheats.RECORDS))),
    ("age-prior-measured.md", lambda: age_prior.page(read(age_prior.RECORDS))),
    ("near-duplicates-measured.md", lambda: age_prior.duplicates_page(read(age_prior.RECORDS))),
    ("edge-drift-measured.md", lambda: edge_drift.page_text(read(edge_drift.RECORDS))),
    ("seeds-measured.md", lambda: seeds.page_text(read(seeds.RECORDS))),
    ("confidence-measured.md", lambda: confidence.page_text(read(confidence.RECORDS))),
    ("class-tree-measured.md", lambda: class_tree_page.page_text(read(class_tree.RECORDS))),
    (
        "several-labels-measured.md",
        lambda: several_labels.page(
            read(several_labels.RECORDS), read(several_labels.MODEL_RECORDS)
        ),
    ),
    ("kinds-measured.md", lambda: kinds.page_text(read(kinds.RECORDS))),
    ("attention-measured.md", lambda: attention.page_text(read(attention.RECORDS))),
    ("searches-measured.md", searches.page_text),
    ("../how-to/gate-measured.md", lambda: gate.page_text(read(gate.RECORDS))),
    ("../how-to/refitting-measured.md", lambda: refitting.page_text(read(refitting.RECORDS))),
    ("../how-to/new-classes-measured.md", lambda: new_classes.page_text(read(new_classes.RECORDS))),
    ("../how-to/suggest-measured.md", lambda: suggesting.page_text(read(suggesting.RECORDS))),
    ("../how-to/new-rows-measured.md", lambda: new_rows.page(read(new_rows.RECORDS))),
    (
        "../how-to/text-encoders-measured.md",
        lambda: text_encoders.page(read(text_encoders.RECORDS)),
    ),
    ("scale-measured.md", lambda: scale.page_text(read(scale.RECORDS))),
    (
        "sampled-training-measured.md",
        lambda: sampled_training.page_text(
            read(sampled_training.STREAMS), read(sampled_training.STEPS)
        ),
    ),
    ("sizes-measured.md", lambda: sizes.table_page(read(sizes.RECORDS))),
]


@pytest.mark.parametrize(("page", "page_text"), PAGES_OF_STUDIES)
def test_a_page_says_what_is_on_record(page: str, page_text: Callable[[], str]) -> None:
    assert (PAGES / page).read_text() == page_text()
    assert (PAGES / page).read_text().count("\n|") > 2


def test_the_figure_of_attention_is_what_is_on_record(tmp_path: Path) -> None:
    attention = attention_figure.recorded()
    save_svg(draw_attention(attention), tmp_path / "drawn.svg")
    drawn = (tmp_path / "drawn.svg").read_bytes()
    assert (PAGES / attention_figure.FIGURE).read_bytes() == drawn
    assert (PAGES / "attention-figure-measured.md").read_text() == attention_figure.page_text(
        attention
    )
    assert all(sum(one.values()) == pytest.approx(1, abs=1e-4) for one in attention.nodes.values())
    assert sum(weight for _, weight in attention.tasks) == pytest.approx(1, abs=1e-4)


def test_only_what_is_missing_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, asked = tmp_path / "records.json", list[tuple[str, int]]()

    def measured(graph: str, seed: int) -> record_file.Record:
        asked.append((graph, seed))
        return {"accuracy": seed / 10}

    monkeypatch.setattr("nodegraft.load_dataset", lambda name, root: name)
    names = ("graph", "seed")
    measure_missing(path, names, [("b", 1)], "", measured)
    measure_missing(path, names, [("b", 0), ("b", 1), ("a", 2)], "", measured)
    assert asked == [("b", 1), ("b", 0), ("a", 2)]
    kept = [(one["graph"], one["seed"], one["accuracy"]) for one in read(path)]
    assert kept == [("a", 2, 0.2), ("b", 0, 0.0), ("b", 1, 0.1)]


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_summaries_name_their_subject_and_variables_say_what_they_are(file: Path) -> None:
    source = file.read_text()
    assert [*vague_summaries(source), *names_of_one(source)] == []

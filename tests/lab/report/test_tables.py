from typing import Any

import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.lab.benchmark.suite import Suite
from nodegraft.lab.report.groups import Groups
from nodegraft.lab.report.tables import make_tables, suite_tables


def run(first: float, last: float, novel: float = 0.1, seed: int = 0) -> dict[str, Any]:
    """A record of two sessions, as far as tables look at it."""
    return {
        "seed": seed,
        "setting": {"novel": 4},
        "sessions": [
            {"macro_accuracy": first, "seconds": 2.0, "query_seconds": 0.0},
            {"macro_accuracy": last, "seconds": 0.25, "query_seconds": 0.0},
        ],
        "summary": {
            "first_accuracy": first,
            "last_accuracy": last,
            "last_known_accuracy": 0.6,
            "last_novel_accuracy": novel,
            "average_accuracy": (first + last) / 2,
            "performance_drop": first - last,
            "relative_performance_drop": (first - last) / first,
            "unknown_auroc": 0.8,
            "harmonic_mean": 0.3,
            "kept_bytes": 2_500_000,
        },
    }


STRICT = [run(0.8, 0.4), run(0.8, 0.6, seed=1)]
GROUPS: Groups = {
    ("gentoo", "one", "strict"): [*STRICT],
    ("gentoo", "one", "published (leaky)"): [run(0.9, 0.7), run(0.9, 0.7, seed=1)],
    ("gentoo", "other", "strict"): [run(0.5, 0.5)],
}


def text(kind: str, groups: Groups) -> str:
    """Return the tables of a kind in Markdown."""
    return "\n\n".join(table.markdown() for table in make_tables([kind], groups))


def cells(table: str, row: int) -> list[str]:
    """The cells of a row below the head."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [cell.strip() for cell in lines[2 + row].strip("|").split("|")]


def test_overview_has_a_row_for_each_method_and_both_protocols() -> None:
    table = text("overview", GROUPS)
    # 0.4 and 0.6: a standard error of 0.1, times 12.706 for one degree of freedom.
    assert cells(table, 0) == [
        "gentoo",
        "one (n = 2)",
        "80.0 ± 0.0",
        "50.0 ± 127.1",
        "60.0 ± 0.0",
        "10.0 ± 0.0",
        "90.0 ± 0.0",
        "70.0 ± 0.0",
    ]
    assert cells(table, 1)[2:] == ["50.0", "50.0", "60.0", "10.0", "–", "–"]


def test_the_last_session_has_a_column_for_each_dataset() -> None:
    table = text("last-session", {**GROUPS, ("debian", "other", "strict"): [run(0.2, 0.1)]})
    assert table.splitlines()[0] == "| method | gentoo | debian |"
    assert cells(table, 0) == ["one (n = 2)", "50.0 ± 127.1", "–"]


def test_sessions_have_drops_and_seconds() -> None:
    table = text("sessions", {("gentoo", "one", "strict"): [*STRICT]})
    assert "**gentoo**, strict protocol" in table
    assert cells(table, 0) == [
        "one",
        "80.0 ± 0.0",
        "50.0 ± 127.1",
        "30.0 ± 127.1",
        "37.5 ± 158.8",
        "2.0",
        "0.250",
    ]


def test_classes_still_to_come_have_a_row_for_each_method() -> None:
    table = text("unknown-classes", GROUPS)
    assert cells(table, 0) == ["one (n = 2)", "80.0 ± 0.0"]
    assert cells(table, 2) == ["other (n = 1)", "80.0"]


def test_a_matrix_puts_datasets_side_by_side() -> None:
    table = text("matrix", {**GROUPS, ("debian", "other", "strict"): [run(0.2, 0.1)]})
    assert "debian A0" in table.splitlines()[0]
    assert cells(table, 0)[5:] == ["–"] * 4


def test_a_comparison_puts_the_best_first_and_says_what_it_costs() -> None:
    best, low = run(0.9, 0.8), [run(0.7, 0.2), run(0.7, 0.4, seed=1)]
    table = text(
        "comparison",
        {
            ("gentoo", "low", "strict"): [*low],
            ("gentoo", "one", "strict"): [*STRICT],
            ("gentoo", "all", "strict, many-shot (upper reference)"): [best, best],
        },
    )
    assert cells(table, 0)[0] == "all — many-shot (upper reference)"
    assert cells(table, 1)[0] == "one"
    assert cells(table, 1)[5:] == ["65.0 ± 63.5", "–", "2.0", "0.250", "2.50"]
    # Low is 20 points behind on each of the two seeds.
    assert cells(table, 2)[:1] + cells(table, 2)[6:7] == ["low", "-20.0 ± 0.0"]


def test_differences_are_paired_by_seed_and_not_by_place() -> None:
    # Seed 0 is hard for both. By place, each pair would be one of a hard and an easy seed.
    one = [run(0.9, 0.3, seed=0), run(0.9, 0.8, seed=1), run(0.9, 0.9, seed=2)]
    other = [run(0.9, 0.7, seed=1), run(0.9, 0.2, seed=0)]
    table = text(
        "comparison", {("gentoo", "one", "strict"): [*one], ("gentoo", "other", "strict"): [*other]}
    )
    assert cells(table, 1)[6] == "-10.0 ± 0.0"
    assert [cells(table, row)[0] for row in (0, 1)] == ["one (n = 3)", "other (n = 2)"]


def test_sessions_in_full_say_what_is_kept_and_put_the_best_first() -> None:
    (table,) = make_tables(
        ["sessions-in-full"],
        {
            ("gentoo", "low", "strict"): [run(0.8, 0.2)],
            ("gentoo", "high", "strict"): [run(0.8, 0.6)],
        },
    )
    high, low = (dict(zip(table.head, row, strict=True)) for row in table.rows)
    assert (high["method"], low["method"]) == ("high", "low")
    assert (high["average"], high["harmonic mean"], high["kept MB"]) == ("70.0", "30.0", "2.50")


def test_a_matrix_says_how_many_seeds_where_they_differ() -> None:
    (table,) = make_tables(
        ["matrix"],
        {
            ("gentoo", "one", "strict"): [run(0.8, 0.2), run(0.8, 0.2, seed=1)],
            ("debian", "one", "strict"): [run(0.8, 0.2)],
        },
    )
    assert table.rows[0][0] == "one (n = 1 to 2)"


def test_a_suite_without_all_records_says_what_is_missing() -> None:
    document = {
        "arrival": "with-class",
        "tables": ["overview"],
        "datasets": ["synthetic"],
        "methods": [{"method": "lost"}],
    }
    document["methods"] = [{"method": "sgc-mean"}]
    with pytest.raises(ParameterError, match="1 of 1 jobs have no record, such as sgc-mean"):
        suite_tables(Suite.from_document(document), [])


def test_an_unknown_table_is_named() -> None:
    with pytest.raises(ParameterError, match="no table 'sesions'"):
        suite_tables(Suite("", ("sesions",), (), ()), [])


def test_a_new_class_costs_the_drop_divided_by_their_number() -> None:
    (table,) = make_tables(["new-classes"], GROUPS)
    assert table.head == ("method", "A0", "last", "lost per new class", "seconds a session")
    assert table.rows[0] == (
        "one (n = 2)",
        "80.0 ± 0.0",
        "50.0 ± 127.1",
        "7.5 ± 31.8",
        "0.25 ± 0.00",
    )
    assert table.rows[1] == ("other (n = 1)", "50.0", "50.0", "0.0", "0.25")

"""Tests that every method must pass; add tests of what only your method does."""

from nodegraft.evaluation.checks import check_no_leaks
from nodegraft.model.checks import check_method


def test_the_method_keeps_the_contract() -> None:
    """Check keys, threads, saving, errors, undo …; a failed rule raises and says what to do."""
    assert check_method("text-mean")


def test_the_method_sees_no_query_label_and_no_class_that_has_not_arrived() -> None:
    """Change what a method must not see, and compare its predictions."""
    assert check_no_leaks("text-mean")

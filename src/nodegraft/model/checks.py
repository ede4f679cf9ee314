"""Contract of every method, for authors of methods: ``check_method("my-method")``.

The same checks run over every method of this package. Those about leaks are in
:mod:`nodegraft.evaluation.checks`.
"""

from collections.abc import Callable

from nodegraft.model.contract.basics import (
    check_abilities_are_as_declared,
    check_changes_leave_earlier_states_alone,
    check_invalid_input_changes_nothing,
    check_is_a_plain_dataclass,
    check_is_deterministic,
    check_learns_something,
    check_one_isolated_node_is_enough,
    check_parameters_are_checked,
    check_predicts_class_names,
    check_removing_classes,
    check_reports_what_it_did,
    check_saving_keeps_every_bit,
    check_setting_labels,
    check_unfitted_raises,
)
from nodegraft.model.contract.case import Case
from nodegraft.model.contract.identity import (
    check_nodes_may_go,
    check_rows_beside_the_graph,
    check_rows_may_be_inserted,
    check_rows_may_come_in_any_order,
)
from nodegraft.model.contract.threads import check_readers_beside_a_writer
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY

CONTRACT: tuple[Callable[[Case], None], ...] = (
    check_is_a_plain_dataclass,
    check_parameters_are_checked,
    check_unfitted_raises,
    check_predicts_class_names,
    check_learns_something,
    check_reports_what_it_did,
    check_one_isolated_node_is_enough,
    check_invalid_input_changes_nothing,
    check_abilities_are_as_declared,
    check_removing_classes,
    check_setting_labels,
    check_changes_leave_earlier_states_alone,
    check_saving_keeps_every_bit,
    check_rows_may_come_in_any_order,
    check_rows_may_be_inserted,
    check_nodes_may_go,
    check_rows_beside_the_graph,
    check_is_deterministic,
    check_readers_beside_a_writer,
)
"""All checks; the method is fitted once for most of them together."""


def check_method(method: str | Callable[[], Method]) -> list[str]:
    """Run all checks on a method; raise an error for the first rule that it breaks.

    >>> check_method("sgc-mean")[0]
    'check_is_a_plain_dataclass'

    Args:
        method: Its name, or what makes it (a class, or a function with parameters of your choice).

    Returns:
        The names of the checks, all of which passed.
    """
    case = Case(REGISTRY.get(method) if isinstance(method, str) else method)
    for check in CONTRACT:
        check(case)
    return [check.__name__ for check in CONTRACT]

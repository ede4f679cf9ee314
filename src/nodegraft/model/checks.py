"""Checks of the rules that every method must follow: ``check_method("my-method")``.

Authors of methods can run them; the tests of this package run them on all its methods. Leak checks
are in :mod:`nodegraft.evaluation.checks`.
"""

from collections.abc import Callable

from nodegraft.model.contract import basics, identity
from nodegraft.model.contract.case import Case
from nodegraft.model.contract.threads import check_readers_beside_a_writer
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY

CONTRACT: tuple[Callable[[Case], None], ...] = (
    basics.check_is_a_plain_dataclass,
    basics.check_parameters_are_checked,
    basics.check_unfitted_raises,
    basics.check_predicts_class_names,
    basics.check_learns_something,
    basics.check_reports_what_it_did,
    basics.check_one_isolated_node_is_enough,
    basics.check_invalid_input_changes_nothing,
    basics.check_abilities_are_as_declared,
    basics.check_removing_classes,
    basics.check_setting_labels,
    basics.check_changes_leave_earlier_states_alone,
    basics.check_saving_keeps_every_bit,
    identity.check_rows_may_come_in_any_order,
    identity.check_rows_may_be_inserted,
    identity.check_nodes_may_go,
    identity.check_rows_beside_the_graph,
    basics.check_is_deterministic,
    check_readers_beside_a_writer,
)
"""All checks of the contract; most of them share one fitted method, which saves time."""


def check_method(method: str | Callable[[], Method]) -> list[str]:
    """Run all checks on a method; raise an error if a check fails.

    >>> check_method("sgc-mean")[0]
    'check_is_a_plain_dataclass'

    Args:
        method: Name of the method, or a class or function without arguments that returns a method.

    Returns:
        Names of the checks, which all passed.
    """
    case = Case(REGISTRY.get(method) if isinstance(method, str) else method)
    for check in CONTRACT:
        check(case)
    return [check.__name__ for check in CONTRACT]

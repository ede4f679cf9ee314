"""Methods compared on a store's own labels, in a terminal."""

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.store.comparison import Estimate, Evaluation


def evaluation_lines(found: Evaluation) -> RenderableType:
    """What was done, a row for each method, and which one to take.

    Args:
        found: What was measured.
    """
    lines: list[RenderableType] = [Text(_what(found))]
    if found.plan.left_out:
        lines.append(Text(found.plan.exclusion(), style="yellow"))
    return Group(*lines, _table(found), Text(advice(found)))


def advice(found: Evaluation) -> str:
    """Which method to take, and whether its lead is more than noise.

    Args:
        found: What was measured.
    """
    best, lead = found.best, found.lead
    if lead is None:
        return f"Only {best.method} was measured: name others with --method to compare it with."
    second = found.methods[1]
    if lead.beyond_noise:
        return (
            f"Take {best.method}: {_points(lead)} ahead of {second.method}, the next best, which "
            "is beyond the noise."
        )
    fastest = min((best, second), key=lambda one: one.session_seconds.mean)
    doubt = "which may be noise" if lead.seeds > 1 else "and one seed cannot say if that is noise"
    return (
        f"{best.method} is {_points(lead)} ahead of {second.method}, {doubt}: ask for more seeds "
        f"(--seeds {2 * lead.seeds}), or take {fastest.method}, which learns a session faster."
    )


def _what(found: Evaluation) -> str:
    setting, seeds = found.plan.setting, counted(found.seeds, "seed")
    each = "one by one" if setting.ways == 1 else f"{setting.ways} at a time"
    return (
        f"Version {found.version}: {counted(setting.base, 'class')} known, {setting.novel} taught "
        f"{each} from {counted(setting.shots, 'label')} each; {seeds}, strict protocol; "
        "every class counts alike."
    )


def _table(found: Evaluation) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("method", overflow="fold")
    for heading in (
        "right before any\nnew class, %",
        f"after {found.plan.setting.novel} new\nclasses, %",
        "points lost\na new class",
        "seconds\na session",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in found.methods:
        table.add_row(
            escape(one.method),
            _hundredths(one.first),
            _hundredths(one.last),
            _hundredths(one.loss_per_class),
            _with_noise(one.session_seconds, 1.0, 2),
        )
    return table


def _points(lead: Estimate) -> str:
    return f"{_hundredths(lead)} points"


def _hundredths(share: Estimate) -> str:
    return _with_noise(share, 100.0, 1)


def _with_noise(number: Estimate, unit: float, digits: int) -> str:
    mean = f"{unit * number.mean:.{digits}f}"
    return mean if number.seeds == 1 else f"{mean} ± {unit * number.half_width:.{digits}f}"

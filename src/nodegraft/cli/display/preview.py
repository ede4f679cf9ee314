"""What a change would do, in a terminal."""

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.cli.display.shares import likely
from nodegraft.cli.display.texts import Texts, add_text_column
from nodegraft.cli.display.versions import SHOWN, flips_text, warning_lines
from nodegraft.store.preview import Preview


def preview_lines(seen: Preview, texts: Texts) -> RenderableType:
    """How many answers change, from where to where, and at what cost.

    Args:
        seen: What was compared.
        texts: Of the examples.
    """
    sampled_from = None if seen.asked == seen.nodes else seen.nodes
    lines: list[RenderableType] = [Text(flips_text(seen.flipped, seen.asked, sampled_from))]
    if seen.flips:
        lines.append(_flips_table(seen))
        lines.append(_examples_table(seen, texts))
    lines += [
        Text(f"{count:,} predictions of {old!r}, which is split, become {part!r}.")
        for (old, part), count in seen.parts.items()
    ]
    lines.append(Text(_cost(seen)))
    lines += [
        Text(
            f"Labels of {name!r} that the other labels of it recognise: {seen.new.right[name]} of "
            f"{seen.new.asked[name]}."
        )
        for name in seen.new.asked
    ]
    lines += [Text(f"Against it: {told}", style="yellow") for told in seen.objections()]
    lines += warning_lines(seen.warnings())
    return Group(*lines)


def _cost(seen: Preview) -> str:
    if seen.before.accuracy is None or seen.after.accuracy is None:
        return "No node is held out, so nothing can be said of what is forgotten."
    return (
        f"Held-out nodes answered rightly: {100 * seen.before.accuracy:.1f} % before, "
        f"{100 * seen.after.accuracy:.1f} % after (of {seen.before.nodes:,}; "
        f"{100 * (seen.noise or 0.0):.1f} points more or less can be chance)."
    )


def _flips_table(seen: Preview) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("from")
    table.add_column("to")
    table.add_column("nodes", justify="right")
    for (before, after), count in list(seen.flips.items())[:SHOWN]:
        table.add_row(escape(before), escape(after), f"{count:,}")
    rest = sum(list(seen.flips.values())[SHOWN:])
    if rest:
        table.add_row("others", "", f"{rest:,}")
    return table


def _examples_table(seen: Preview, texts: Texts) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    for heading in ("for example", "from", "to"):
        table.add_column(heading, overflow="fold")
    table.add_column("confidence", justify="right", no_wrap=True)
    told = add_text_column(table, texts)
    for one, text in zip(seen.examples, told, strict=True):
        cells = (escape(str(one.node)), escape(one.before), escape(one.after))
        table.add_row(*cells, likely(one.confidence), *text)
    return table

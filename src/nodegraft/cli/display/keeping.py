"""What was freed, and what was forgotten, in a terminal."""

from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.store.description import numbered
from nodegraft.store.pruning import Pruned
from nodegraft.store.purging import Purged
from nodegraft.store.verification import Verification

UNITS = ("bytes", "kB", "MB", "GB", "TB")


def pruned_line(found: Pruned, dry_run: bool) -> Text:
    """How much became free, or would.

    Args:
        found: What was pruned.
        dry_run: Whether nothing was done.
    """
    if not found.files and not found.versions:
        return Text("Nothing to free: all that is there is needed.")
    freed = f"{size_text(found.size)} in {counted(found.files, 'file')}"
    what = numbered(list(found.versions)) if found.versions else "what killed processes have left"
    if dry_run:
        return Text(f"This would prune {what} and free {freed}. Nothing was changed.")
    return Text(f"Pruned {what}: {freed} are free. Still whole: {numbered(list(found.kept))}.")


def purged_lines(done: Purged) -> Text:
    """What is gone, and what is kept.

    Args:
        done: What was purged.
    """
    verb = "is" if len(done.versions) == 1 else "are"
    struck = f"; in {counted(done.rows, 'row')} the keys are struck out or say [purged]"
    return Text(
        f"Forgotten: {counted(done.nodes, 'node')}. "
        f"Version {done.champion}, learned anew without, answers from now on. Gone {verb} "
        f"{numbered(list(done.versions))} but for what is listed of them"
        f"{struck if done.rows else ''}. Copies of the store, logs and backups of a database "
        "server, and the tables it was made from are yours to clean."
    )


def verification_lines(found: Verification) -> Text:
    """Every damaged file, and what to do about it.

    Args:
        found: What a verification found.
    """
    unused = ""
    if found.unused:
        unused = f" {counted(found.unused, 'file')} no version names (`nodegraft prune`)."
    if found.is_clean:
        return Text(f"{counted(found.files, 'file')} verified: all are whole.{unused}")
    lines = [f"{one.file}: {one.problem}.\n  To do: {one.advice}." for one in found.findings]
    damaged = counted(len(found.findings), "damaged file")
    lines.append(f"{damaged} of {found.files}.{unused}")
    if any(one.blocks for one in found.findings):
        recorded = "The store is not opened until `nodegraft verify` finds no damage."
        if found.recorded:
            recorded = f"This could not be recorded in the store: {found.recorded}"
        lines.append(recorded)
    return Text("\n".join(lines))


def size_text(size: int) -> str:
    """A number of bytes, in a unit that suits.

    >>> size_text(999), size_text(1_234_567)
    ('999 bytes', '1.2 MB')

    Args:
        size: In bytes.
    """
    amount, unit = float(size), 0
    while amount >= 1000 and unit < len(UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} bytes" if unit == 0 else f"{amount:.1f} {UNITS[unit]}"

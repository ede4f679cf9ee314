"""What is odd about the tables a graph was read from, for a person to read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from nodegraft.base.errors import DataError, TablesError


@dataclass(frozen=True)
class Finding:
    """One oddity: how often, some examples, and whether it must be mended before use."""

    what: str
    """What is odd."""

    count: int
    """How often it was found."""

    examples: tuple[str, ...] = ()
    """Some of what was found."""

    blocking: str = ""
    """What ``repair=True`` does about it; empty where the tables can be used as they are."""

    where: str = ""
    """The column and table it was found in."""

    fatal: bool = False
    """Whether ``repair=True`` cannot help: ``blocking`` says what to do instead."""

    @property
    def told(self) -> str:
        """What is odd, where, and some examples; of one thing where there is only one.

        >>> Finding("nodes without any edge", 1, ("p7",)).told
        'node without any edge (for example p7)'
        """
        # It begins with what is counted: nodes, edges or rows.
        noun, _, rest = self.what.partition(" ")
        what = f"{noun.removesuffix('s')} {rest}" if self.count == 1 else self.what
        if self.where:
            what = f"{what}, {self.where}"
        return what + (f" (for example {', '.join(self.examples)})" if self.examples else "")

    def __str__(self) -> str:
        mend = f" -> {self.blocking}" if self.blocking else ""
        return f"{self.count:>10,}  {self.told}{mend}"


def finding(
    what: str,
    count: int,
    examples: Sequence[Any] | NDArray[Any] = (),
    blocking: str = "",
    *,
    where: str = "",
    fatal: bool = False,
) -> list[Finding]:
    """A finding, or none where nothing was found.

    >>> finding("nodes without any edge", 0)
    []

    Args:
        what: What is odd.
        count: How often it was found.
        examples: Some of what was found; three are shown.
        blocking: What ``repair=True`` does about it, if something must be done.
        where: The column and table it was found in.
        fatal: Whether ``repair=True`` cannot help; ``blocking`` says what to do instead.
    """
    shown = tuple(str(example) for example in list(examples)[:3])
    return [Finding(what, int(count), shown, blocking, where, fatal)] if count else []


def gathered(findings: Iterable[Finding]) -> list[Finding]:
    """Findings about parts of a table as findings about all of it.

    >>> parts = finding("loops", 2, "ab") + finding("loops", 3, "cd")
    >>> print(*gathered(parts))
             5  loops (for example a, b, c)

    Args:
        findings: Of one part after the other.
    """
    found: dict[tuple[str, str], Finding] = {}
    for part in findings:
        before = found.get((part.what, part.where), Finding(part.what, 0))
        count, examples = before.count + part.count, before.examples + part.examples
        found[part.what, part.where] = replace(part, count=count, examples=examples[:3])
    return list(found.values())


@dataclass(frozen=True)
class DataReport:
    """Sizes and findings; ``str(report)`` is what the user reads."""

    nodes: int
    """How many nodes the graph has."""

    edges: int
    """How many undirected edges."""

    features: int
    """How many columns of features."""

    findings: tuple[Finding, ...] = ()
    """What is odd."""

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The findings that make the tables unusable as they are."""
        return tuple(finding for finding in self.findings if finding.blocking)

    def require_usable(self, repair: bool) -> None:
        """Refuse tables that must be mended first.

        Args:
            repair: Whether what can be done about them is done.
        """
        require_usable(self.findings, repair, str(self))

    def count(self, what: str) -> int:
        """How often something was found.

        Args:
            what: As a finding says it.
        """
        return sum(finding.count for finding in self.findings if finding.what == what)

    def __str__(self) -> str:
        head = [
            f"{self.nodes:>10,}  nodes",
            f"{self.edges:>10,}  undirected edges",
            f"{self.features:>10,}  features",
        ]
        return "\n".join([*head, *map(str, self.findings)])


def require_usable(findings: Iterable[Finding], repair: bool, report: str) -> None:
    """Refuse tables that must be mended first, with all that was found.

    Args:
        findings: What is odd about the tables.
        repair: Whether what can be done about them is done.
        report: The text that lists all findings.
    """
    found = list(findings)
    if any(one.fatal for one in found):
        raise DataError(f"The tables have errors; correct them as shown behind ->:\n{report}")
    if any(one.blocking for one in found) and not repair:
        raise TablesError(
            "The tables have errors; correct them, or do what is shown behind -> with "
            f"repair=True (--repair):\n{report}",
            f"The tables have errors:\n{report}",
        )

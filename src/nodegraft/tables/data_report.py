"""Report on the tables that a graph was read from: sizes, and findings about their content."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from nodegraft.base.errors import DataError, TablesError


@dataclass(frozen=True)
class Finding:
    """Finding about tables: its count, some examples, and whether it prevents their use."""

    what: str
    """Description of what was found, beginning with what is counted: nodes, edges or rows."""

    count: int
    """Number of nodes, edges or rows."""

    examples: tuple[str, ...] = ()
    """Some of them."""

    blocking: str = ""
    """What ``repair=True`` does about it; empty if the tables can be used as they are."""

    where: str = ""
    """Column and table of the finding."""

    fatal: bool = False
    """Whether ``repair=True`` does not help; ``blocking`` then says what to do."""

    @property
    def told(self) -> str:
        """Finding, place and examples in words, with the noun in the singular for a count of 1.

        >>> Finding("nodes without any edge", 1, ("p7",)).told
        'node without any edge (for example p7)'
        """
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
    """Return a list with a finding, or an empty list if the count is 0.

    >>> finding("nodes without any edge", 0)
    []

    Args:
        examples: Some of them; three are shown.
        blocking: What ``repair=True`` does about it; empty if the tables can be used as they are.
        fatal: Whether ``repair=True`` does not help; ``blocking`` then says what to do.
    """
    shown = tuple(str(example) for example in list(examples)[:3])
    return [Finding(what, int(count), shown, blocking, where, fatal)] if count else []


def gathered(findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings about parts of a table to findings about all of it.

    >>> parts = finding("loops", 2, "ab") + finding("loops", 3, "cd")
    >>> print(*gathered(parts))
             5  loops (for example a, b, c)
    """
    found: dict[tuple[str, str], Finding] = {}
    for part in findings:
        before = found.get((part.what, part.where), Finding(part.what, 0))
        count, examples = before.count + part.count, before.examples + part.examples
        found[part.what, part.where] = replace(part, count=count, examples=examples[:3])
    return list(found.values())


@dataclass(frozen=True)
class DataReport:
    """Sizes of a graph and findings about its tables; ``str(report)`` is for the user."""

    nodes: int
    """Number of nodes."""

    edges: int
    """Number of undirected edges."""

    features: int
    """Number of features."""

    findings: tuple[Finding, ...] = ()
    """Findings about the tables."""

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """Findings that prevent the use of the tables as they are."""
        return tuple(finding for finding in self.findings if finding.blocking)

    def require_usable(self, repair: bool) -> None:
        """Refuse tables that must be corrected first.

        Args:
            repair: Whether findings are repaired.
        """
        require_usable(self.findings, repair, str(self))

    def count(self, what: str) -> int:
        """Return the total count of a finding.

        Args:
            what: Description of the finding.
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
    """Refuse tables that must be corrected first; the error lists all findings.

    Args:
        repair: Whether findings are repaired.
    """
    found = list(findings)
    if any(finding.fatal for finding in found):
        raise DataError(f"The tables have errors; correct them as shown behind ->:\n{report}")
    if any(finding.blocking for finding in found) and not repair:
        raise TablesError(
            "The tables have errors; correct them, or do what is shown behind -> with "
            f"repair=True (--repair):\n{report}",
            f"The tables have errors:\n{report}",
        )

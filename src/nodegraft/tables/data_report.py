"""Data report: size of a graph, and findings about the tables from which it was read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from nodegraft.base.errors import DataError, TablesError


@dataclass(frozen=True)
class Finding:
    """Finding about a table, with a count and examples."""

    what: str
    """Description of the finding; its first word says what is counted: nodes, edges or rows."""

    count: int
    """Number of nodes, edges or rows that the description applies to."""

    examples: tuple[str, ...] = ()
    """Examples of the counted nodes, edges or rows."""

    blocking: str = ""
    """How ``repair=True`` corrects the data; empty if the data needs no correction."""

    where: str = ""
    """Names of the column and the table that the finding is about."""

    fatal: bool = False
    """Whether ``repair=True`` cannot correct the data; then ``blocking`` says what to do."""

    @property
    def sentence(self) -> str:
        """Description, column and examples as one text; for a count of 1, its noun is singular.

        >>> Finding("nodes without any edge", 1, ("p7",)).sentence
        'node without any edge (for example p7)'
        """
        noun, _, rest = self.what.partition(" ")
        what = f"{noun.removesuffix('s')} {rest}" if self.count == 1 else self.what
        if self.where:
            what = f"{what}, {self.where}"
        return what + (f" (for example {', '.join(self.examples)})" if self.examples else "")

    def __str__(self) -> str:
        mend = f" -> {self.blocking}" if self.blocking else ""
        return f"{self.count:>10,}  {self.sentence}{mend}"


def finding(
    what: str,
    count: int,
    examples: Sequence[Any] | NDArray[Any] = (),
    blocking: str = "",
    *,
    where: str = "",
    fatal: bool = False,
) -> list[Finding]:
    """Return a list with one finding; an empty list if the count is 0.

    >>> finding("nodes without any edge", 0)
    []

    Args:
        examples: Examples of the counted nodes, edges or rows; the first three are shown.
    """
    texts = tuple(str(example) for example in list(examples)[:3])
    return [Finding(what, int(count), texts, blocking, where, fatal)] if count else []


def gathered(findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings about batches of a table into findings about the whole table.

    >>> parts = finding("loops", 2, "ab") + finding("loops", 3, "cd")
    >>> print(*gathered(parts))
             5  loops (for example a, b, c)
    """
    merged: dict[tuple[str, str], Finding] = {}
    for part in findings:
        before = merged.get((part.what, part.where), Finding(part.what, 0))
        count, examples = before.count + part.count, before.examples + part.examples
        merged[part.what, part.where] = replace(part, count=count, examples=examples[:3])
    return list(merged.values())


@dataclass(frozen=True)
class DataReport:
    """Size of a graph and findings about its tables; ``str(report)`` is a text for users."""

    nodes: int
    """Number of nodes of the graph."""

    edges: int
    """Number of undirected edges of the graph, of all types together."""

    features: int
    """Number of feature columns of the graph."""

    findings: tuple[Finding, ...] = ()
    """Findings about the tables."""

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """Findings about data that must be corrected before the tables can be used."""
        return tuple(finding for finding in self.findings if finding.blocking)

    def require_usable(self, repair: bool) -> None:
        """Raise an error if any data must be corrected before the tables can be used.

        Args:
            repair: Whether data that must be corrected is corrected automatically; then only fatal
                findings raise an error.
        """
        require_usable(self.findings, repair, str(self))

    def count(self, what: str) -> int:
        """Return the sum of the counts of all findings with this description.

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
    """Raise an error that lists all findings, if any data must be corrected."""
    everything = list(findings)
    if any(finding.fatal for finding in everything):
        raise DataError(f"The tables have errors; correct them as shown behind ->:\n{report}")
    if any(finding.blocking for finding in everything) and not repair:
        raise TablesError(
            "The tables have errors; correct them, or do what is shown behind -> with "
            f"repair=True (--repair):\n{report}",
            f"The tables have errors:\n{report}",
        )

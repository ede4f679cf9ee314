"""What is odd about the tables a graph was read from, for a person to read."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """One oddity: how often, some examples, and whether it must be mended before use."""

    what: str
    count: int
    examples: tuple[str, ...] = ()
    blocking: str = ""

    def __str__(self) -> str:
        shown = f" (for example {', '.join(self.examples)})" if self.examples else ""
        mend = f" -> {self.blocking}" if self.blocking else ""
        return f"{self.count:>10,}  {self.what}{shown}{mend}"


@dataclass(frozen=True)
class DataReport:
    """Sizes and findings; ``str(report)`` is what the user reads."""

    nodes: int
    edges: int
    features: int
    findings: tuple[Finding, ...] = field(default=())

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The findings that make the tables unusable as they are."""
        return tuple(finding for finding in self.findings if finding.blocking)

    def count(self, what: str) -> int:
        """How often something was found."""
        return sum(finding.count for finding in self.findings if finding.what == what)

    def __str__(self) -> str:
        head = [
            f"{self.nodes:>10,}  nodes",
            f"{self.edges:>10,}  undirected edges",
            f"{self.features:>10,}  features",
        ]
        return "\n".join([*head, *map(str, self.findings)])

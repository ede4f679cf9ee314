"""Benchmark settings: number of classes of each role, and of classes and labels per session."""

from dataclasses import dataclass

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.base.parameters.validate import validate


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Benchmark setting: numbers of classes, and of labels per class.

    It has the number of classes of each role, of new classes per session (``ways``), and of labels
    per new class (``shots``).

    >>> print(Setting(base=2, pseudo_novel=1, validation=1, novel=4, ways=2, shots=5))
    2/1/1/4 classes (base/pseudo-novel/validation/novel), 2-way 5-shot
    """

    base: PositiveInt
    """Number of known classes with many labels on which encoders are pre-trained."""

    pseudo_novel: NonNegativeInt
    """Number of known classes with many labels with which methods practise adding classes."""

    validation: NonNegativeInt
    """Number of classes for choosing hyper-parameters; they are not in the test stream."""

    novel: NonNegativeInt
    """Number of classes that arrive in the sessions of the test stream."""

    ways: PositiveInt
    """Number of new classes per session (N); the last session may have fewer."""

    shots: PositiveInt
    """Number of labelled nodes of each new class (K)."""

    base_nodes: NonNegativeInt = 0
    """Minimum number of nodes of a base class."""

    least_shots: PositiveInt | None = None
    """If set, the number of labels of each new class is drawn from ``least_shots`` to ``shots``."""

    def __post_init__(self) -> None:
        validate(self)
        if self.least_shots is not None and self.least_shots > self.shots:
            raise ParameterError(
                f"least_shots is {self.least_shots}, more than shots ({self.shots}): give at most "
                "as many."
            )

    @property
    def classes(self) -> int:
        """Total number of classes that the setting needs."""
        return self.base + self.pseudo_novel + self.validation + self.novel

    def __str__(self) -> str:
        shots = f"{self.shots}" if self.least_shots is None else f"{self.least_shots}-{self.shots}"
        return (
            f"{self.base}/{self.pseudo_novel}/{self.validation}/{self.novel} classes "
            f"(base/pseudo-novel/validation/novel), {self.ways}-way {shots}-shot"
        )

"""Setting of a benchmark: number of classes of each role, and classes and labels of a session."""

from dataclasses import dataclass

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.base.parameters.validate import validate


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Number of classes of each role, and of classes (``ways``) and labels that arrive in a
    session.

    >>> print(Setting(base=2, pseudo_novel=1, validation=1, novel=4, ways=2, shots=5))
    2/1/1/4 classes (base/pseudo-novel/validation/novel), 2-way 5-shot
    """

    base: PositiveInt
    """Classes with many labels, known from the start; encoders are pre-trained on them."""

    pseudo_novel: NonNegativeInt
    """Classes with many labels, known from the start, that methods practise increments on."""

    validation: NonNegativeInt
    """Classes that hyper-parameters are chosen on; they do not exist in the test stream."""

    novel: NonNegativeInt
    """Classes that arrive in the sessions of the test stream."""

    ways: PositiveInt
    """New classes a session (N); the last session may bring fewer."""

    shots: PositiveInt
    """Labelled nodes of each new class (K)."""

    base_nodes: NonNegativeInt = 0
    """Base classes are drawn from those with at least so many nodes."""

    least_shots: PositiveInt | None = None
    """If given, each new class has a number of labels of its own, drawn from this to ``shots``."""

    def __post_init__(self) -> None:
        validate(self)
        if self.least_shots is not None and self.least_shots > self.shots:
            raise ParameterError(
                f"least_shots is {self.least_shots}, more than shots ({self.shots}): give at most "
                "as many."
            )

    @property
    def classes(self) -> int:
        """How many classes the setting needs."""
        return self.base + self.pseudo_novel + self.validation + self.novel

    def __str__(self) -> str:
        shots = f"{self.shots}" if self.least_shots is None else f"{self.least_shots}-{self.shots}"
        return (
            f"{self.base}/{self.pseudo_novel}/{self.validation}/{self.novel} classes "
            f"(base/pseudo-novel/validation/novel), {self.ways}-way {shots}-shot"
        )

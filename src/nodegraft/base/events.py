"""Listeners for progress bars and trackers; the library itself prints nothing."""

from typing import Any


class Listener:
    """Does nothing: subclass it and override what you want to see.

    >>> class Last(Listener):
    ...     def step(self, stage, done, total, **numbers):
    ...         self.seen = (stage, done, numbers)
    >>> listener = Last(); listener.step("pretrain", 3, 10, loss=0.5); listener.seen
    ('pretrain', 3, {'loss': 0.5})
    """

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        """Receive the progress of a stage.

        Args:
            stage: What is being done.
            done: How many steps of it are over.
            total: How many there are at most.
            numbers: How it goes: a loss, an accuracy.
        """

    def session(self, result: Any) -> None:
        """Receive the result of a session of an evaluation.

        Args:
            result: A :class:`~nodegraft.evaluation.protocol.SessionResult`.
        """


SILENT = Listener()

"""Progress listeners for long operations, and a listener that prints progress."""

import sys
from time import monotonic
from typing import Any, TextIO


class Listener:
    """Base class of progress listeners, whose methods ignore all events.

    >>> class Last(Listener):
    ...     def step(self, stage, done, total, **numbers):
    ...         self.seen = (stage, done, numbers)
    >>> listener = Last(); listener.step("pretrain", 3, 10, loss=0.5); listener.seen
    ('pretrain', 3, {'loss': 0.5})
    """

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        """Receive the progress of one stage of a long operation.

        Args:
            stage: Name of the stage.
            done: Number of finished steps.
            total: Maximum number of steps of the stage.
            numbers: Current metrics by name, such as a loss or an accuracy.
        """

    def session(self, result: Any) -> None:
        """Receive the result of an evaluation session.

        Args:
            result: Result of the session, a :class:`~nodegraft.evaluation.protocol.SessionResult`.
        """


SILENT = Listener()


class PrintProgress(Listener):
    """Listener that prints progress: ``model.fit(graph, labels, listener=PrintProgress())``.

    >>> progress = PrintProgress(sys.stdout)
    >>> progress.step("practise", 2, 2, loss=0.5)
    \rpractise: 2 of 2  loss 0.500

    Args:
        stream: Output stream; None for standard error.
        seconds: Minimum time between two updates of the line, in seconds.
    """

    def __init__(self, stream: TextIO | None = None, seconds: float = 0.2) -> None:
        self._stream, self._seconds = stream, seconds
        self._stage, self._written, self._width = "", 0.0, 0

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        """Update the printed progress line of a stage; each stage has its own line."""
        now = monotonic()
        if self._stage and stage != self._stage:
            self._write("\n")
            self._width = 0
        is_due = stage != self._stage or done == total or now - self._written >= self._seconds
        self._stage = stage
        if is_due:
            self._written = now
            text = step_text(stage, done, total, **numbers)
            self._write("\r" + text.ljust(self._width))
            self._width = len(text)
        if done == total:
            self._write("\n")
            self._stage, self._width = "", 0

    def session(self, result: Any) -> None:
        """Print a line with the result of an evaluation session."""
        self._write(
            f"\rsession {result.index}: {result.classes} classes, "
            f"macro accuracy {100 * result.macro_accuracy:.1f} %\n"
        )
        self._stage, self._width = "", 0

    def _write(self, text: str) -> None:
        stream = self._stream or sys.stderr
        stream.write(text)
        stream.flush()


def step_text(stage: str, done: int, total: int, **numbers: float) -> str:
    """Format the progress of a stage as text.

    >>> step_text("meta-train", 20, 1000, node_spread=0.25)
    'meta-train: 20 of 1000  node-spread 0.250'
    """
    measures = "".join(f"  {name.replace('_', '-')} {value:.3f}" for name, value in numbers.items())
    return f"{stage}: {done} of {total}{measures}"

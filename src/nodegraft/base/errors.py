"""Exceptions of nodegraft, with messages for users."""

import copyreg
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral
from pathlib import Path
from typing import Any


class NodegraftError(Exception):
    """Base class of all exceptions that nodegraft raises on purpose."""

    code: str = "refused"
    """Machine-readable error code in HTTP responses and in the output of the command line."""

    problems: tuple[tuple[str, str], ...] = ()
    """For a list of problems: the message of each with advice, and without advice."""

    what_happened: str = ""
    """Message without advice, for callers that add their own; empty if there is no advice."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, pickle would pass the message to the constructor, whose arguments may differ.
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class DataError(NodegraftError):
    """Tables, features or labels that are not usable without a correction."""

    code = "data"


class TablesError(DataError):
    """Unusable tables, with advice that callers may replace by their own advice.

    Args:
        message: What happened, and advice for users of Python and of the command line.
        what_happened: What happened, without the advice.
    """

    def __init__(self, message: str, what_happened: str = "") -> None:
        super().__init__(message)
        self.what_happened = what_happened


class MissingColumnError(TablesError):
    """Required columns that a table does not have."""


class ParameterError(NodegraftError):
    """Invalid value of a hyper-parameter or an option."""

    code = "parameter"


class MissingExtraError(NodegraftError, ImportError):
    """Use of a feature whose optional package is not installed."""

    code = "missing_extra"


class NotFittedError(NodegraftError):
    """Use of a model that was not fitted yet.

    Args:
        method: Name of the method.
    """

    def __init__(self, method: str) -> None:
        super().__init__(f"This {method} model is not fitted: call fit(graph, labels) first.")


class NotSupportedError(NodegraftError):
    """Call of an optional feature that a method does not have.

    Args:
        method: Name of the method.
        capability: Verb phrase that follows "METHOD cannot", such as "remove a class".
    """

    code = "not_supported"

    def __init__(self, method: str, capability: str) -> None:
        super().__init__(f"{method} cannot {capability}: model.capabilities() lists what it can.")


class SeveralLabelsError(NodegraftError):
    """Use of a feature that a store with several labels per node does not have.

    Args:
        feature: Name of the feature: a method, command, option or route.
    """

    code = "not_supported"

    def __init__(self, feature: str) -> None:
        super().__init__(f"{feature} is not supported for a store with several labels per node.")


class SealedMethodError(NodegraftError):
    """Failure of a method while it runs in its sealed process.

    Args:
        method: Name of the method.
        finding: What happened.
    """

    def __init__(self, method: str, finding: str) -> None:
        self.method, self.finding = method, finding
        super().__init__(f"Sealed method {method}: {finding}")


class ClassNameError(NodegraftError):
    """Class name that is already used, unknown, invalid, or has no usable nodes."""

    code = "class_name"


class SimilarNameError(ClassNameError):
    """Name of a new class that is probably another spelling of an existing name.

    Args:
        name: Name of the new class.
        other: Existing name that it resembles.
    """

    code = "similar_name"

    def __init__(self, name: str, other: str) -> None:
        self.name, self.other = name, other
        self.what_happened = (
            f"The class name {name!r} differs from {other!r} only by case, spaces or Unicode "
            "spelling."
        )
        super().__init__(
            f"{self.what_happened} Use {other!r}; or, if these are two classes, give "
            "force_name=True (--force-name)."
        )


class CheckpointError(NodegraftError):
    """Failure to write or read a saved directory or file."""


class DamagedFileError(CheckpointError):
    """File whose content or checksum is wrong.

    Args:
        file: Path or name of the file.
        finding: What is wrong with the file; the message is "FILE is damaged: FINDING".
    """

    def __init__(self, file: object, finding: str) -> None:
        self.file, self.finding = str(file), finding
        super().__init__(
            f"{file} is damaged: {finding}. `nodegraft verify STORE` lists all damaged files of a "
            "store; restore them from a backup."
        )


class UnreadableModelError(CheckpointError):
    """Model in a store that this version of nodegraft cannot read."""


class GraphTooLargeError(NodegraftError):
    """Graph that does not fit into memory, for an operation that needs all of it at once.

    Args:
        needed: Approximate number of bytes that the operation needs.
        available: Number of free bytes.
    """

    def __init__(self, needed: int, available: int) -> None:
        super().__init__(
            "The whole graph at once would take about "
            f"{needed / 1e9:,.1f} GB of memory; {available / 1e9:,.1f} GB are free. Train on "
            "sampled subgraphs (batch=1024); or use a method in closed form, which reads a graph "
            "in pieces: graft, sgc-mean, sgc-ridge or sgc-lda."
        )


class TrainingInterruptedError(NodegraftError):
    """End of a data-parallel training because another of its processes has ended.

    Args:
        finding: What happened.
    """

    def __init__(self, finding: str) -> None:
        super().__init__(
            f"Training was interrupted: {finding}. Start all processes again; with the same "
            "checkpoint=… of fit, training resumes at its last checkpoint."
        )


class StoreError(NodegraftError):
    """Failure to open, read or change a store."""

    code = "store_refused"


class UnfinishedStoreError(StoreError):
    """Store whose creation was interrupted before it was complete."""

    def __init__(self) -> None:
        super().__init__(
            "Creating this store was interrupted: create it again with `nodegraft init`."
        )


class OutdatedStoreError(StoreError):
    """Store whose database schema is from an older version of nodegraft."""


class NewerStoreError(StoreError):
    """Store whose database schema is from a newer version of nodegraft."""


class StoreChangedError(StoreError):
    """Concurrent change of the store by another process; a retry may succeed."""

    code = "store_changed"


class StoreUnreachableError(StoreError):
    """Database of a store that cannot be reached."""

    code = "store_unreachable"


class RequestConflictError(StoreError):
    """Reuse of an idempotency key for a different request.

    Args:
        key: Idempotency key of the request.
    """

    code = "key_used_before"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The idempotency key {key!r} was used before for another change: use a new key for "
            "each change, and the same key only to send the same change again."
        )


class NoCandidateError(StoreError):
    """Request for a candidate version, although no version waits for review.

    Args:
        live: Number of the live version.
    """

    code = "no_candidate"

    def __init__(self, live: int) -> None:
        self.live = live
        super().__init__(
            f"No candidate version waits for review: version {live} is live, and the newest "
            "version equals it."
        )


class CandidateWaitsError(StoreError):
    """Change with promotion that would also promote an unreviewed candidate version.

    Args:
        candidate: Number of the candidate version.
        live: Number of the live version.
    """

    code = "candidate_waits"

    def __init__(self, candidate: int, live: int) -> None:
        self.candidate, self.live = candidate, live
        self.what_happened = (
            f"Nothing was changed: version {candidate} waits for review, and would go live with "
            f"this change (version {live} is live)."
        )
        super().__init__(
            f"{self.what_happened} Promote it with store.promote(), discard it with "
            "store.discard(), or omit promote=True to add the change to it."
        )


class GateError(StoreError):
    """Change refused by the quality gate of a store.

    Args:
        objections: Reasons for the refusal, one sentence each.
        advice: What the user can do.
    """

    code = "gate_refused"

    def __init__(self, objections: Sequence[str], advice: str) -> None:
        self.objections = tuple(objections)
        super().__init__(f"{' '.join(objections)} Nothing was changed. {advice}")


class RecordConflictError(NodegraftError):
    """Attempt to write a run record that already exists with different content."""


class PluginWarning(UserWarning):
    """Warning that an installed plug-in could not be loaded and was skipped."""


class UnknownNameError(NodegraftError):
    """Request for a method or dataset whose name is not registered.

    Args:
        kind: Kind of object, such as "method" or "dataset".
        name: Unknown name.
        known: All registered names.
    """

    code = "unknown_name"

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = get_close_matches(name, names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        super().__init__(f"There is no {kind} named {name!r}.{hint} Known: {', '.join(names)}.")


class UnknownNodeError(NodegraftError):
    """Request for node keys or rows that do not exist in the graph.

    Args:
        missing: Keys or rows that do not exist.
        total: Number of requested keys or rows.
        key_type: Type of the graph's keys: "text" or "integer".
    """

    code = "unknown_node"

    def __init__(self, missing: Sequence[object], total: int, key_type: str = "") -> None:
        self.missing = tuple(missing)
        verb = "is" if len(missing) == 1 else "are"
        key_class = {"text": str, "integer": Integral}.get(key_type, object)
        other = next((key for key in missing if not isinstance(key, key_class)), None)
        hint = "Node keys are the values of the key column, in the same type (text or integer)."
        if other is not None:
            kind = "integer" if isinstance(other, Integral) else type(other).__name__
            kind = "text" if isinstance(other, str) else kind
            types = f"The keys of this graph are of type {key_type}"
            hint = f"{types}, and {other!r} is of type {kind}: the two never match."
        super().__init__(
            f"{len(missing)} of {total} nodes {verb} not in this graph: {_shown(missing, 20)}. "
            f"{hint}"
        )


class MissingLabelsError(NodegraftError):
    """Labelled nodes that a fitted model needs, but that a graph does not have.

    Args:
        missing: Keys of the missing nodes.
        name: Name of the class of these nodes.
    """

    def __init__(self, missing: Sequence[object], name: str) -> None:
        super().__init__(
            f"This graph lacks {len(missing)} labelled nodes of {name!r} that the model was fitted "
            f"on: {_shown(missing)}. Use a graph that has them, or fit the model again without "
            "them."
        )


class HiddenNodeError(NodegraftError):
    """Request for nodes that exist in the graph but are hidden in a view of it.

    Args:
        hidden: Number of hidden nodes.
        total: Number of requested nodes.
    """

    def __init__(self, hidden: int, total: int) -> None:
        super().__init__(
            f"{hidden} of {total} nodes are not visible in this view: they have not arrived yet."
        )


class MissingFileError(NodegraftError):
    """Data file of a dataset that was not found.

    Args:
        dataset: Name of the dataset.
        required: Names of the files that the dataset needs.
        folders: Folders that were searched.
        fetch: How to get the files; empty if that is not known.
    """

    code = "missing_file"

    def __init__(
        self, dataset: str, required: Sequence[str], folders: Sequence[Path], fetch: str = ""
    ) -> None:
        files = ", ".join(required)
        places = "\n".join(f"  {place}" for place in folders)
        advice = f"\nTo get them, in the data folder: {fetch}" if fetch else ""
        super().__init__(
            f"Dataset {dataset!r} needs {files}. Looked in:\n{places}\n"
            "Give the folder that holds it with --data DIR, or set NODEGRAFT_DATA."
            f"{advice}"
        )


def _shown(values: Sequence[object], most: int = 5) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(repr, values[:most])) + more

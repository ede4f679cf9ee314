"""Every exception of nodegraft, with the sentence the user reads."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral
from pathlib import Path


class NodegraftError(Exception):
    """Base class of all errors that nodegraft raises on purpose."""

    code: str = "refused"
    """Identifier for programs, over HTTP and on the command line."""

    problems: tuple[tuple[str, str], ...] = ()
    """If the error reports several: the text of each, with and without advice."""

    what_happened: str = ""
    """The message without advice that not every caller can follow; empty if it has none."""


class DataError(NodegraftError):
    """The tables, features or labels given cannot be used as they are."""

    code = "data"


class TablesError(DataError):
    """Tables that cannot be used, with advice that not every caller can follow.

    Args:
        message: What happened and the advice, in the words of Python and of the command line.
        what_happened: The same without the advice.
    """

    def __init__(self, message: str, what_happened: str = "") -> None:
        super().__init__(message)
        self.what_happened = what_happened


class MissingColumnError(TablesError):
    """A table lacks columns that it is asked for."""


class ParameterError(NodegraftError):
    """A hyper-parameter or option has a value that makes no sense."""

    code = "parameter"


class MissingExtraError(NodegraftError, ImportError):
    """A package is needed that the core install does not bring."""

    code = "missing_extra"


class NotFittedError(NodegraftError):
    """A model was used before it was fitted.

    Args:
        method: The name of the method.
    """

    def __init__(self, method: str) -> None:
        super().__init__(f"This {method} model is not fitted: call fit(graph, labels) first.")


class NotSupportedError(NodegraftError):
    """The method does not offer an optional ability.

    Args:
        method: The name of the method.
        capability: What it cannot do, in words that go on "… cannot".
    """

    code = "not_supported"

    def __init__(self, method: str, capability: str) -> None:
        super().__init__(f"{method} cannot {capability}: model.capabilities() lists what it can.")


class SealedMethodError(NodegraftError):
    """A method failed in its sealed process.

    Args:
        method: Name of the method.
        finding: What happened.
    """

    def __init__(self, method: str, finding: str) -> None:
        self.method, self.finding = method, finding
        super().__init__(f"Sealed method {method}: {finding}")

    def __reduce__(self) -> tuple[type["SealedMethodError"], tuple[str, str]]:
        return type(self), (self.method, self.finding)


class ClassNameError(NodegraftError):
    """A class name is taken, unknown, or has no usable nodes."""

    code = "class_name"


class SimilarNameError(ClassNameError):
    """The name of a new class is probably another spelling of a name.

    Args:
        name: The name of the new class.
        other: The name that it resembles.
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

    def __reduce__(self) -> tuple[type["SimilarNameError"], tuple[str, str]]:
        # The arguments differ from the sentence, which is what would be pickled.
        return type(self), (self.name, self.other)


class CheckpointError(NodegraftError):
    """A saved directory cannot be written or read."""


class DamagedFileError(CheckpointError):
    """A file is damaged.

    Args:
        file: The file.
        finding: What is wrong with it, in words that go on "… is damaged: ".
    """

    def __init__(self, file: object, finding: str) -> None:
        self.file, self.finding = str(file), finding
        super().__init__(
            f"{file} is damaged: {finding}. `nodegraft verify STORE` lists all damaged files of a "
            "store; restore them from a backup."
        )


class UnreadableModelError(CheckpointError):
    """A version of a store has a model that this nodegraft cannot read."""


class GraphTooLargeError(NodegraftError):
    """A graph does not fit into memory, and what was asked for needs all of it at once.

    Args:
        needed: About so many bytes.
        available: So many are free.
    """

    def __init__(self, needed: int, available: int) -> None:
        super().__init__(
            "This method trains on the whole graph at once, which would take about "
            f"{needed / 1e9:,.1f} GB of memory; {available / 1e9:,.1f} GB are free. Train it on "
            "a part, graph.view(rows), and predict all nodes; or use a method in closed form, "
            "which reads a graph in pieces: graft, sgc-mean, sgc-ridge or sgc-lda."
        )


class StoreError(NodegraftError):
    """A store cannot be opened, read or changed as asked."""

    code = "store_refused"


class UnfinishedStoreError(StoreError):
    """Creating a store was interrupted."""

    def __init__(self) -> None:
        super().__init__(
            "Creating this store was interrupted: create it again with `nodegraft init`."
        )


class OutdatedStoreError(StoreError):
    """The tables of a store's database are those of an older nodegraft."""


class NewerStoreError(StoreError):
    """The tables of a store's database are those of a newer nodegraft."""


class StoreChangedError(StoreError):
    """The store was changed concurrently: a retry may succeed."""

    code = "store_changed"


class StoreUnreachableError(StoreError):
    """The store's database does not answer."""

    code = "store_unreachable"


class RequestConflictError(StoreError):
    """A key of a request was used before, for something else.

    Args:
        key: The key.
    """

    code = "key_used_before"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The idempotency key {key!r} was used before for another change: use a new key for "
            "each change, and the same key only to send the same change again."
        )


class NoCandidateError(StoreError):
    """The candidate version was asked for, but no version waits for review.

    Args:
        live: The number of the live version.
    """

    code = "no_candidate"

    def __init__(self, live: int) -> None:
        self.live = live
        super().__init__(
            f"No candidate version waits for review: version {live} is live, and the newest "
            "version equals it."
        )

    def __reduce__(self) -> tuple[type["NoCandidateError"], tuple[int]]:
        # The argument differs from the sentence, which is what would be pickled.
        return type(self), (self.live,)


class CandidateWaitsError(StoreError):
    """A change was to be promoted on top of a candidate version that nobody has reviewed.

    Args:
        candidate: The number of the candidate version.
        live: The number of the live version.
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

    def __reduce__(self) -> tuple[type["CandidateWaitsError"], tuple[int, int]]:
        # The arguments differ from the sentence, which is what would be pickled.
        return type(self), (self.candidate, self.live)


class GateError(StoreError):
    """A change was refused because it would cost more than the store allows.

    Args:
        objections: What speaks against it, a sentence each.
        advice: What can be done.
    """

    code = "gate_refused"

    def __init__(self, objections: Sequence[str], advice: str) -> None:
        self.objections = tuple(objections)
        super().__init__(f"{' '.join(objections)} Nothing was changed. {advice}")


class RecordConflictError(NodegraftError):
    """A run record exists already and says something else."""


class PluginWarning(UserWarning):
    """An installed plug-in could not be loaded and was left out."""


class UnknownNameError(NodegraftError):
    """A method or dataset name that nobody registered.

    Args:
        kind: What was looked for: "method", "dataset".
        name: The name that was given.
        known: The names there are.
    """

    code = "unknown_name"

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = get_close_matches(name, names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        super().__init__(f"There is no {kind} named {name!r}.{hint} Known: {', '.join(names)}.")


class UnknownNodeError(NodegraftError):
    """A node key or row that the graph does not hold.

    Args:
        missing: The keys that are not there.
        total: How many were asked for.
        key_type: What the keys of the graph are: text or integer.
    """

    code = "unknown_node"

    def __init__(self, missing: Sequence[object], total: int, key_type: str = "") -> None:
        self.missing = tuple(missing)
        verb = "is" if len(missing) == 1 else "are"
        wanted = {"text": str, "integer": Integral}.get(key_type, object)
        other = next((key for key in missing if not isinstance(key, wanted)), None)
        hint = "Node keys are the values of the key column, in the same type (text or integer)."
        if other is not None:
            kind = "integer" if isinstance(other, Integral) else "text"
            types = f"The keys of this graph are of type {key_type}"
            hint = f"{types}, and {other!r} is of type {kind}: the two never match."
        super().__init__(
            f"{len(missing)} of {total} nodes {verb} not in this graph: {_shown(missing, 20)}. "
            f"{hint}"
        )


class MissingLabelsError(NodegraftError):
    """Nodes that taught a model, and that it still needs, are not in a graph it is asked about.

    Args:
        missing: The keys that are not there.
        name: The class they label.
    """

    def __init__(self, missing: Sequence[object], name: str) -> None:
        super().__init__(
            f"This graph lacks {len(missing)} labelled nodes of {name!r} that the model was fitted "
            f"on: {_shown(missing)}. Use a graph that has them, or fit the model again without "
            "them."
        )


class HiddenNodeError(NodegraftError):
    """A node that exists in the graph but may not be seen in this view.

    Args:
        hidden: How many nodes are hidden.
        total: How many were asked for.
    """

    def __init__(self, hidden: int, total: int) -> None:
        super().__init__(
            f"{hidden} of {total} nodes are not visible in this view: they have not arrived yet."
        )


class MissingFileError(NodegraftError):
    """A data file is not where it was looked for.

    Args:
        dataset: The name of the dataset.
        required: The names of the files it needs.
        folders: Where they were looked for.
    """

    code = "missing_file"

    def __init__(self, dataset: str, required: Sequence[str], folders: Sequence[Path]) -> None:
        files = ", ".join(required)
        places = "\n".join(f"  {place}" for place in folders)
        super().__init__(
            f"Dataset {dataset!r} needs {files}. Looked in:\n{places}\n"
            "Give the folder that holds it with --data DIR, or set NODEGRAFT_DATA."
        )


def _shown(values: Sequence[object], most: int = 5) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(repr, values[:most])) + more

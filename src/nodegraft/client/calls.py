"""Calls of the HTTP service as values, used by the synchronous and the asynchronous client."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote
from uuid import uuid4

from nodegraft.base.errors import ParameterError

Key = str | int
Labels = Mapping[str, Iterable[Key]]
VersionName = int | Literal["live", "candidate"]
Rows = Sequence[Mapping[str, Any]]

JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"
"""Media types (Content-Type) of responses."""

Response = TypeVar("Response")
"""Return type of a call: JSON as a dict, or an awaitable of it."""


@dataclass(frozen=True)
class Call:
    """A request to the service."""

    method: str
    """HTTP method."""

    path: str
    """Path of the route."""

    query: Mapping[str, Any] = field(default_factory=dict)
    """Query parameters; parameters that are None are not sent."""

    body: Mapping[str, Any] | None = None
    """JSON body of the request."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional HTTP headers."""

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Query parameters as text; a list becomes several parameters with the same name."""
        pairs: list[tuple[str, str]] = []
        for name, value in self.query.items():
            values = value if isinstance(value, list) else [value]
            pairs += [(name, _text(item)) for item in values if item is not None]
        return pairs


def predict_call(
    keys: Iterable[Key], version: VersionName, options: Mapping[str, Any], accept: str = JSON
) -> Call:
    """Return the call that predicts nodes."""
    # Omit default values: a store with several labels per node does not have all options.
    given = {
        name: value
        for name, value in options.items()
        if value is not None and (name, value) != ("top", 1)
    }
    body = {"keys": listed(keys), **given}
    return Call("POST", "/v1/predict", {"version": version}, body, {"Accept": accept})


class Calls(ABC, Generic[Response]):
    """Methods of a client, one for each route; subclasses send the calls.

    Each method returns the JSON object that the HTTP reference describes, as a dict. Each change
    has an idempotency key, so that a retried request does not make the change twice.
    """

    @abstractmethod
    def _send(self, call: Call) -> Response:
        """Send a call and return its response."""

    def predict(
        self,
        keys: Iterable[Key],
        *,
        top: int = 1,
        min_confidence: float | None = None,
        coverage: float | None = None,
        missing: Literal["null", "skip", "error"] = "null",
        ignore_labels: bool = False,
        version: VersionName = "live",
    ) -> Response:
        """Predict the classes of up to 10,000 nodes.

        Args:
            keys: Node keys.
            top: Number of classes for each node, the most probable first.
            min_confidence: Confidence threshold: withhold predictions with less confidence.
            coverage: Also return a set of classes for each node that contains its class with this
                probability.
            missing: What to do with keys that are not in the graph: return a row without a class,
                skip them, or raise an error.
            ignore_labels: Return predictions for labelled nodes too, instead of their labels.
            version: Version to read.
        """
        options = {
            "top": top,
            "min_confidence": min_confidence,
            "coverage": coverage,
            "missing": missing,
            "ignore_labels": ignore_labels,
        }
        return self._send(predict_call(keys, version, options))

    def explain(self, node: Key, *, version: VersionName = "live") -> Response:
        """Explain the prediction of a node.

        Args:
            node: Node key.
            version: Version to read.
        """
        return self._read("/v1/explain", node=node, version=version)

    def suggest(self, count: int = 10, *, version: VersionName = "live") -> Response:
        """Suggest nodes to label next.

        Args:
            count: Number of nodes.
            version: Version to read.
        """
        return self._read("/v1/suggest", count=count, version=version)

    def classes(self, *, version: VersionName = "live") -> Response:
        """List the classes of a version.

        Args:
            version: Version to read.
        """
        return self._read("/v1/classes", version=version)

    def summary(self, *, version: VersionName = "live") -> Response:
        """Return held-out accuracy and the number of predictions per class.

        Args:
            version: Version to read.
        """
        return self._read("/v1/summary", version=version)

    def search(self, words: str, *, limit: int = 20, version: VersionName = "live") -> Response:
        """Search nodes by words in their keys and texts.

        Args:
            words: Words or parts of words.
            limit: Number of nodes.
            version: Version to read.
        """
        return self._read("/v1/nodes", words=words, limit=limit, version=version)

    def nodes(self, keys: Iterable[Key], *, version: VersionName = "live") -> Response:
        """Return the texts and labels of up to 100 nodes.

        Args:
            keys: Node keys.
            version: Version to read.
        """
        return self._read("/v1/nodes", key=listed(keys), version=version)

    def predict_rows(
        self,
        rows: Rows,
        *,
        top: int = 1,
        min_confidence: float | None = None,
        version: VersionName = "live",
    ) -> Response:
        """Predict the classes of new rows, without adding them to the graph.

        Args:
            rows: For each row its columns and, as ``edges``, a list such as
                ``[{"type": "needs", "target": "react"}]``.
            top: Number of classes for each row, the most probable first.
            min_confidence: Confidence threshold: withhold predictions with less confidence.
            version: Version to read.
        """
        body = {"rows": list(rows), "top": top, "min_confidence": min_confidence}
        return self._send(Call("POST", "/v1/predict", {"version": version}, body))

    def suggest_classes(self, count: int = 3, *, version: VersionName = "live") -> Response:
        """Suggest groups of nodes that may form a new class.

        Args:
            count: Number of groups.
            version: Version to read.
        """
        return self._read("/v1/suggest/classes", count=count, version=version)

    def audit(self, count: int = 20, *, version: VersionName = "live") -> Response:
        """List labels that are probably wrong, the most suspicious first.

        Args:
            count: Number of labels.
            version: Version to read.
        """
        return self._read("/v1/audit", count=count, version=version)

    def history(self, limit: int = 100) -> Response:
        """List the changes of the store, newest first.

        Args:
            limit: Number of changes.
        """
        return self._read("/v1/history", limit=limit)

    def versions(self, limit: int = 100) -> Response:
        """List versions, newest first, and which of them is live and which waits for review.

        Args:
            limit: Number of versions.
        """
        return self._read("/v1/versions", limit=limit)

    def diff(self) -> Response:
        """Compare the predictions of the live version and the candidate version."""
        return self._read("/v1/diff")

    def drift(self) -> Response:
        """Return the drift of predictions, confidence, edges and features."""
        return self._read("/v1/drift")

    def whoami(self) -> Response:
        """Return name and scope of the API token."""
        return self._read("/v1/whoami")

    def preview(self, classes: Labels) -> Response:
        """Preview new classes: return what would change, without changing the store.

        Args:
            classes: New class -> keys of its nodes.
        """
        body = {"action": "add", "classes": _lists(classes), "dry_run": True}
        return self._send(Call("POST", "/v1/changes", body=body))

    def add(
        self,
        classes: Labels,
        *,
        parent: str | None = None,
        note: str = "",
        override: str = "",
        promote: bool = False,
        force_name: bool = False,
    ) -> Response:
        """Add new classes: this makes a version.

        Args:
            classes: New class -> keys of its nodes.
            parent: Parent of the new classes in the class tree.
            note: Reason for the change.
            override: Reason to apply the change although held-out accuracy drops.
            promote: Make the version live at once; this needs the scope admin.
            force_name: Allow names that differ from another class name only by case or blanks.
        """
        body = {"classes": _lists(classes), "note": note, "override": override}
        body |= {} if parent is None else {"parent": parent}
        return self._change("POST", "/v1/classes", body | {"force_name": force_name}, promote)

    def label(
        self, labels: Labels, *, note: str = "", override: str = "", promote: bool = False
    ) -> Response:
        """Add labels to known classes: this makes a version.

        Args:
            labels: Known class -> keys of nodes without a label.
            note: Reason for the change.
            override: Reason to apply the change although held-out accuracy drops.
            promote: Make the version live at once; this needs the scope admin.
        """
        body = {"labels": _lists(labels), "note": note, "override": override}
        return self._change("POST", "/v1/labels", body, promote)

    def remove(
        self, name: str, *, note: str = "", override: str = "", promote: bool = False
    ) -> Response:
        """Remove a class: this makes a version.

        Args:
            name: Name of the class.
            note: Reason for the change.
            override: Reason to apply the change although held-out accuracy drops.
            promote: Make the version live at once; this needs the scope admin.
        """
        path = f"/v1/classes/{quote(name, safe='')}"
        return self._change("DELETE", path, None, promote, note=note, override=override)

    def relabel(
        self, classes: Labels, *, note: str = "", override: str = "", promote: bool = False
    ) -> Response:
        """Change the class of labelled nodes: this makes a version.

        Args:
            classes: Known class -> keys of nodes that have a label of another class.
            note: Reason for the change.
            override: Reason to apply the change although held-out accuracy drops.
            promote: Make the version live at once; this needs the scope admin.
        """
        body = {"action": "relabel", "classes": _lists(classes)}
        return self._label_change(body, note, override, promote)

    def unlabel(
        self,
        nodes: Iterable[Key] | Labels,
        *,
        note: str = "",
        override: str = "",
        promote: bool = False,
    ) -> Response:
        """Remove labels: this makes a version.

        Args:
            nodes: Keys of labelled nodes; in a store with several labels per node, class -> keys.
            note: Reason for the change.
            override: Reason to apply the change although held-out accuracy drops.
            promote: Make the version live at once; this needs the scope admin.
        """
        body: dict[str, Any] = {"action": "unlabel"}
        body |= {"labels": _lists(nodes)} if isinstance(nodes, Mapping) else {"keys": listed(nodes)}
        return self._label_change(body, note, override, promote)

    def rename(self, old: str, new: str, *, note: str = "", promote: bool = False) -> Response:
        """Rename a class: this makes a version.

        Args:
            old: Current name of the class.
            new: New name of the class.
            note: Reason for the change.
            promote: Make the version live at once; this needs the scope admin.
        """
        return self._label_change({"action": "rename", "old": old, "new": new}, note, "", promote)

    def merge(
        self,
        names: Iterable[str],
        into: str,
        *,
        note: str = "",
        override: str = "",
        promote: bool = False,
    ) -> Response:
        """Merge several classes into one: this makes a version.

        Args:
            names: Names of the classes.
            into: Name of the merged class.
            note: Reason for the change.
            override: Reason to apply the change although held-out accuracy drops.
            promote: Make the version live at once; this needs the scope admin.
        """
        body = {"action": "merge", "names": list(names), "into": into}
        return self._label_change(body, note, override, promote)

    def move(
        self, parents: Mapping[str, str | None], *, note: str = "", promote: bool = False
    ) -> Response:
        """Change the parents of classes in the class tree: this makes a version.

        Args:
            parents: Class or group -> its new parent, which may be a new group; None for no parent.
            note: Reason for the change.
            promote: Make the version live at once; this needs the scope admin.
        """
        return self._label_change({"action": "move", "parents": dict(parents)}, note, "", promote)

    def grow(
        self,
        nodes: Rows | Mapping[str, Rows] = (),
        edges: Rows | Mapping[str, Rows] = (),
        *,
        note: str = "",
        dry_run: bool = False,
        promote: bool = False,
    ) -> Response:
        """Add nodes and edges: this makes a version.

        Args:
            nodes: Rows with the columns of the store's table of nodes; or a mapping from node type
                to rows.
            edges: Rows with the columns of the store's table of edges; or a mapping from edge type
                to rows.
            note: Reason for the change.
            dry_run: Only return what would change.
            promote: Make the version live at once; this needs the scope admin.
        """
        rows = {"nodes": _rows(nodes), "edges": _rows(edges)}
        body = {**rows, "note": note, "dry_run": dry_run}
        return self._change("POST", "/v1/nodes", body, promote)

    def undo(self, version: int, *, note: str = "", promote: bool = False) -> Response:
        """Undo the change of one version: this makes a version.

        Args:
            version: Number of the version.
            note: Reason for the change.
            promote: Make the new version live at once; this needs the scope admin.
        """
        return self._change("POST", f"/v1/versions/{version}:undo", None, promote, note=note)

    def discard(self, version: int, *, note: str = "") -> Response:
        """Discard the candidate: this makes a version equal to the live one.

        Args:
            version: Number of the candidate.
            note: Reason for the change.
        """
        return self._change("POST", f"/v1/versions/{version}:discard", None, False, note=note)

    def promote(self, version: int, *, only_candidate: bool = True, note: str = "") -> Response:
        """Make a version live; this needs the scope admin.

        Args:
            version: Number of the version.
            only_candidate: Refuse a version that does not wait for review: another caller may have
                discarded or changed it.
            note: Reason for the promotion.
        """
        query = {"only_candidate": only_candidate, "note": note}
        return self._send(Call("POST", f"/v1/versions/{version}:promote", query))

    def _read(self, path: str, **query: Any) -> Response:
        return self._send(Call("GET", path, query))

    def _label_change(
        self, body: dict[str, Any], note: str, override: str, promote: bool
    ) -> Response:
        return self._change(
            "POST", "/v1/changes", body | {"note": note, "override": override}, promote
        )

    def _change(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        promote: bool,
        **query: Any,
    ) -> Response:
        headers = {"Idempotency-Key": uuid4().hex}
        query |= {"promote": promote or None}
        return self._send(Call(method, path, query, body, headers))


def _lists(labels: Labels) -> dict[str, list[Key]]:
    return {name: listed(keys) for name, keys in labels.items()}


def listed(keys: Iterable[Key]) -> list[Key]:
    """Return keys as a list; refuse a text, which Python would split into characters."""
    if isinstance(keys, str | bytes):
        raise ParameterError(f"A list of node keys is needed, not {keys!r}: write [{keys!r}].")
    return list(keys)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rows(rows: Rows | Mapping[str, Rows]) -> Any:
    return dict(rows) if isinstance(rows, Mapping) else list(rows)

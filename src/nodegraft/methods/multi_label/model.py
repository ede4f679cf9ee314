"""Model whose nodes may have any number of classes; its state is the labels."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.counting import escape_markdown
from nodegraft.base.errors import CheckpointError, DataError, NotFittedError, ParameterError
from nodegraft.base.memo import LatestMemo
from nodegraft.base.parameters.build import build, parameters_of
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveFloat, PositiveInt
from nodegraft.base.parameters.validate import validate
from nodegraft.graph.edges.matrix import normalise_rows, weigh_columns
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, hash_order, several
from nodegraft.graph.statistics import column_rarity
from nodegraft.methods.multi_label.calibration import Calibration
from nodegraft.methods.multi_label.kernel import KernelRidge
from nodegraft.methods.multi_label.labels import LabelSets
from nodegraft.methods.templates.propagated import side_by_side
from nodegraft.model import checkpoint
from nodegraft.model.checkpoint import SavedModel
from nodegraft.model.learned import GraphInputs
from nodegraft.tables.labels import Labels, keys_by_class

Floats = NDArray[np.float64]

METHOD = "multi-label"
"""Name of the method in saved models."""

BLOCK_ROWS = 4096
"""Number of nodes that are scored at once."""

DIRECTIONS = {"directions_": "array"}
"""Kind in which the learned state without the labels is saved: a store saves labels separately."""

KINDS = {"labels_": "labels"} | DIRECTIONS
"""Kinds in which the learned state is saved."""


@dataclass(frozen=True)
class LabelState:
    """Learned state, a value that is replaced as a whole.

    Args:
        labels: Class name -> keys of its nodes, in the order of their hashes.
        directions: Directions to which sparse features are reduced: features x columns. Empty for
            dense features, which are not reduced.
        inputs: Requirements on later graphs.
    """

    labels: LabelSets
    directions: NDArray[np.float32]
    inputs: GraphInputs


Solution = tuple[KernelRidge, Calibration]
"""Solved regression and its calibration, which follow from the labels and a graph."""


@dataclass(kw_only=True)
class MultiLabel:
    r"""Classifier for nodes with any number of classes, in closed form.

    Every class is scored for itself by one kernel ridge regression on propagated features
    :math:`[X, SX, S^2X]` (:class:`~nodegraft.methods.multi_label.kernel.KernelRidge`). A labelled
    node that is not a label of a class counts as a negative example of it, so give all classes of
    a node if you know them. The scores that the labelled nodes would have without their own labels
    follow in closed form. They calibrate the probabilities and choose the threshold of each class.
    Probabilities hold for nodes like the labelled ones. Each of these has a class, so the classes
    of a node that should have none are too probable.

    All is derived from labels and graph. So a label or class that is added and removed again leaves
    no trace. Memory grows with the square of the number of labelled nodes, time with its third
    power.

    >>> graph = Graph(["a", "b", "c", "d"], np.eye(4), [("a", "b"), ("c", "d")])
    >>> model = MultiLabel().fit(graph, {"red": ["a", "b"], "big": ["b", "c"]})
    >>> model.predict_proba(graph, ["a", "d"]).shape, model.classes_
    ((2, 2), ('red', 'big'))
    """

    hops: NonNegativeInt = 2
    """Number of hops that features are propagated along edges."""

    width: PositiveFloat = 0.4
    r"""Width of the kernel (:math:`\tau`): a large width is nearly a linear regression."""

    penalty: PositiveFloat = 1.0
    r"""Strength of L2 regularisation (:math:`\lambda`)."""

    kept_labels: PositiveInt = 1000
    """Maximum number of labels of each class that are learned, chosen by the hash of their keys."""

    columns: PositiveInt = 512
    """Number of columns to which sparse features are reduced at ``fit`` (latent semantic analysis
    of the graph's own features); dense features are not reduced."""

    seed: NonNegativeInt = 0
    """Seed of the reduction."""

    def __post_init__(self) -> None:
        validate(self)
        self._state: LabelState | None = None
        self._reduced, self._solved = LatestMemo[Graph](), LatestMemo[Solution]()

    # The following methods change the model.

    def fit(self, graph: Graph, labels: Labels, *, force_name: bool = False) -> Self:
        """Learn the first classes, and replace all learned state.

        Args:
            graph: The graph, in memory.
            labels: Class name -> keys of its nodes; a node may be in any number of classes. Or a
                table with the columns ``key`` and ``label``, with one row for each class of a node.
            force_name: Allow names that differ from each other only by case or blanks.
        """
        check_graph(graph)
        added = LabelSets().added(_in_graph(graph, labels), force_name=force_name)
        self._state = LabelState(added, self._directions(graph), GraphInputs.of(graph))
        return self

    def add_classes(self, graph: Graph, labels: Labels) -> None:
        """Add new classes; on an error nothing changes.

        Args:
            graph: The graph; it may have grown since ``fit``.
            labels: New class -> keys of its nodes, as in :meth:`fit`.
        """
        state = self._checked(graph)
        self._state = replace(state, labels=state.labels.added(_in_graph(graph, labels)))

    def add_labels(self, graph: Graph, labels: Labels) -> None:
        """Add nodes to known classes; on an error nothing changes.

        Args:
            graph: The graph; it may have grown since ``fit``.
            labels: Known class -> keys of more nodes, as in :meth:`fit`.
        """
        state = self._checked(graph)
        self._state = replace(state, labels=state.labels.labelled(_in_graph(graph, labels)))

    def remove_labels(self, labels: Labels) -> None:
        """Remove nodes from classes; their other classes stay. On an error nothing changes.

        Args:
            labels: Known class -> keys of labels to remove, as in :meth:`fit`. A class must keep at
                least one label.
        """
        state = self._fitted()
        self._state = replace(state, labels=state.labels.unlabelled(keys_by_class(labels)))

    def remove_classes(self, names: Iterable[str]) -> None:
        """Remove classes with their labels; at least one class must stay.

        Args:
            names: Names of the classes to remove.
        """
        state = self._fitted()
        self._state = replace(state, labels=state.labels.removed(names))

    def with_labels(self, labels: LabelSets) -> Self:
        """Return a model with other labels that shares all that does not depend on labels.

        Args:
            labels: All labels of the new model.
        """
        other = copy(self)
        other._state, other._solved = replace(self._fitted(), labels=labels), LatestMemo()
        return other

    # The following methods predict.

    @property
    def classes_(self) -> tuple[str, ...]:
        """Names of the known classes, in the order of the columns of :meth:`predict_proba`."""
        return () if self._state is None else tuple(self._state.labels)

    @property
    def labels_(self) -> dict[str, list[Key]]:
        """Keys of the labels of each class."""
        return {name: keys.tolist() for name, keys in self.label_sets.items()}

    @property
    def label_sets(self) -> LabelSets:
        """Labels as an immutable value."""
        return self._fitted().labels

    def predict(self, graph: Graph, nodes: Sequence[Key]) -> list[list[str]]:
        """Return the classes of each node, the most probable first; a list may be empty.

        A class is predicted if its probability reaches its threshold (:meth:`thresholds`).

        Args:
            graph: The graph; it may have grown since ``fit``.
            nodes: Keys of nodes.
        """
        state = self._checked(graph)
        shares = self._probabilities(state, graph, nodes)
        names, order = list(state.labels), np.argsort(-shares, axis=1, kind="stable")
        reached = shares >= self._solution(state, graph)[1].thresholds
        return [
            [names[column] for column in columns if row[column]]
            for columns, row in zip(order.tolist(), reached, strict=True)
        ]

    def predict_proba(self, graph: Graph, nodes: Sequence[Key]) -> Floats:
        """Return the probability that each node has each class: nodes x classes.

        Columns are in the order of ``classes_``. The probabilities of a node do not add up to 1.

        Args:
            graph: The graph; it may have grown since ``fit``.
            nodes: Keys of nodes.
        """
        return self._probabilities(self._checked(graph), graph, nodes)

    def thresholds(self, graph: Graph) -> dict[str, float]:
        """Return the minimum probability of each class to be predicted.

        It has the best F1 on the labelled nodes, each scored without its own labels. Classes with
        fewer than 20 labels share a threshold.

        Args:
            graph: The graph; it may have grown since ``fit``.
        """
        state = self._checked(graph)
        chosen = self._solution(state, graph)[1].thresholds
        return dict(zip(state.labels, chosen.tolist(), strict=True))

    # The following methods save and load the model.

    def save(self, directory: str | Path) -> None:
        """Save the model in a new directory, as safetensors, JSON and a model card.

        Args:
            directory: New directory; it must not exist.
        """
        state = self._fitted()
        counts = {name: int(keys.size) for name, keys in state.labels.items()}
        recipe, header = self._header([{"name": name, "labels": counts[name]} for name in counts])
        learned = {"labels_": state.labels.keyed, "directions_": state.directions}
        rows = "".join(f"| {escape_markdown(name)} | {count} |\n" for name, count in counts.items())
        card = f"# {METHOD}\n\nA node has any number of classes.\n\n| class | labels |\n|---|---|\n"
        checkpoint.write_model(
            Path(directory), header, checkpoint.pack(learned, KINDS), card + rows, recipe
        )

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Load a model that :meth:`save` wrote.

        Args:
            directory: Directory of the model.
        """
        saved = checkpoint.read_model(Path(directory))
        if saved.header["method"] != METHOD:
            raise CheckpointError(
                f"{directory} holds a {saved.header['method']} model, whose nodes have one class: "
                "use nodegraft.load_model."
            )
        learned = checkpoint.unpack(saved.state, KINDS)
        return cls._restored(saved, LabelSets(learned["labels_"]), learned["directions_"])

    def packed(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the model without its labels as arrays and JSON, for :meth:`unpacked`."""
        learned = checkpoint.pack({"directions_": self._fitted().directions}, DIRECTIONS)
        recipe, header = self._header([])
        return checkpoint.pack_model(header, learned, recipe)

    @classmethod
    def unpacked(cls, saved: SavedModel, labels: LabelSets) -> Self:
        """Restore a model from the content of :meth:`packed` and its labels.

        Args:
            saved: Content of :meth:`packed`.
            labels: All labels of the model.
        """
        learned = checkpoint.unpack(saved.state, DIRECTIONS)
        return cls._restored(saved, labels, learned["directions_"])

    def _header(
        self, classes: list[dict[str, Any]]
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        recipe, inputs = self._fitted().inputs.state()
        header = {
            "method": METHOD,
            "parameters": self.get_params(),
            "classes": classes,
            **inputs,
            "nodegraft": version("nodegraft"),
        }
        return recipe, header

    @classmethod
    def _restored(
        cls, saved: SavedModel, labels: LabelSets, directions: NDArray[np.float32]
    ) -> Self:
        inputs = GraphInputs.from_state(saved.recipe, saved.header)
        try:
            model = build(cls, saved.header["parameters"])
        except ParameterError as error:
            raise CheckpointError(f"The saved parameters do not fit: {error}") from error
        if directions.shape[0] not in (0, inputs.num_features):
            raise CheckpointError("The saved directions are not those of the features.")
        model._state = LabelState(labels, directions, inputs)
        return model

    def get_params(self) -> dict[str, Any]:
        """Return the hyper-parameters by name."""
        return parameters_of(self)

    def _fitted(self) -> LabelState:
        if self._state is None:
            raise NotFittedError(METHOD)
        return self._state

    def _checked(self, graph: Graph) -> LabelState:
        state = self._fitted()
        check_graph(graph)
        state.inputs.check(graph)
        return state

    def _directions(self, graph: Graph) -> NDArray[np.float32]:
        if not graph.has_sparse_features:
            return np.zeros((0, 0), dtype=np.float32)
        # This import is slow, and only a fit to sparse features needs it.
        from sklearn.utils.extmath import randomized_svd

        rarity = column_rarity(graph)
        rows = normalise_rows(weigh_columns(graph.features(graph.rows), rarity))
        count = min(self.columns, *rows.shape)
        *_, directions = randomized_svd(rows, count, n_iter=3, random_state=self.seed)
        return np.asarray(directions.T * rarity[:, None], dtype=np.float32)

    def _dense(self, state: LabelState, graph: Graph) -> Graph:
        if not state.directions.size:
            return graph

        def reduced() -> Graph:
            rows = normalise_rows(graph.features(graph.rows))
            return graph.with_features(np.asarray(rows @ state.directions, dtype=np.float32))

        return self._reduced.get((graph, state.directions), reduced)

    def _rows(self, state: LabelState, graph: Graph, rows: NDArray[np.int64]) -> Floats:
        layers = side_by_side(self._dense(state, graph).propagated(rows, self.hops))
        vectors: Floats = np.asarray(normalise_rows(layers), dtype=np.float64)
        return vectors

    def _solution(self, state: LabelState, graph: Graph) -> Solution:
        def solved() -> Solution:
            keys = {name: own[: self.kept_labels] for name, own in state.labels.items()}
            used = np.unique(np.concatenate([graph.rows_of(own) for own in keys.values()]))
            used = used[hash_order(graph.key_array_of(used))]
            members = [graph.rows_of(own) for own in state.labels.values()]
            targets = np.column_stack([np.isin(used, rows) for rows in members])
            # Propagated rows are read in ascending order.
            order = np.argsort(used)
            examples = self._rows(state, graph, used[order])[np.argsort(order)]
            ridge = KernelRidge.solved(examples, targets, self.width, self.penalty)
            return ridge, Calibration.fitted(ridge.left_out, targets)

        return self._solved.get((graph, state), solved)

    def _probabilities(self, state: LabelState, graph: Graph, nodes: Sequence[Key]) -> Floats:
        ridge, calibration = self._solution(state, graph)
        rows, places = np.unique(graph.targets_of(nodes), return_inverse=True)
        shares = np.zeros((rows.size, len(state.labels)))
        for start in range(0, rows.size, BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            scores = ridge.scores(self._rows(state, graph, rows[block]))
            shares[block] = calibration.probabilities(scores)
        return shares[places]


def check_graph(graph: Graph) -> None:
    """Raise an error for a graph that this model does not support."""
    if not isinstance(graph, Graph):
        raise ParameterError(
            f"A nodegraft.Graph is needed, not a {type(graph).__name__}: see nodegraft.read_graph."
        )
    if graph.is_on_disk:
        raise DataError(
            "Several labels per node are not supported on a graph on disk: read its tables with "
            "nodegraft.read_graph."
        )
    if not graph.num_features:
        raise DataError(
            "Several labels per node are learned from features, and this graph has none: add "
            "columns to the table of nodes."
        )


def _in_graph(graph: Graph, labels: Labels) -> dict[str, list[Key]]:
    """Return the keys of each class; refuse keys that cannot be labelled."""
    found = {
        name: several(keys, f"nodes of class {name!r}")
        for name, keys in keys_by_class(labels).items()
    }
    for keys in found.values():
        graph.targets_of(keys)
    return found

"""Read access to a store: its versions, predictions, explanations and comparisons."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from nodegraft.analysis.version import Promotion, Version
from nodegraft.base.errors import StoreError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.tabular import Records
from nodegraft.graph.keys import Key
from nodegraft.store.intent import IdempotencyKey
from nodegraft.store.maintenance.damage import refuse_damaged
from nodegraft.store.objects.links import refuse_links
from nodegraft.store.objects.place import journal_in, settings_in
from nodegraft.store.versions.journal import Journal, refuse_pruned
from nodegraft.store.versions.migration import require_current

if TYPE_CHECKING:
    from nodegraft.analysis.card.card import Card
    from nodegraft.analysis.drift import Shift
    from nodegraft.analysis.own_labels.comparison import Evaluation
    from nodegraft.analysis.predictions import Answers, Missing
    from nodegraft.analysis.preview import Preview
    from nodegraft.analysis.snapshot import State
    from nodegraft.analysis.suggestions.new_classes import NewClass
    from nodegraft.analysis.suggestions.suggestion import Suggestion
    from nodegraft.evaluation.confusion import ConfusionMatrix
    from nodegraft.graph.graph import Graph
    from nodegraft.graph.growth.clearing import Cleared
    from nodegraft.model.confidence import World
    from nodegraft.store.objects.objects import Objects
    from nodegraft.store.objects.states import States
    from nodegraft.tables.labels import Labels

SEARCHED = 1 << 16
"""Number of keys that are searched at a time."""


class StoreReader:
    """Folder with versions of a model, opened for reading.

    Args:
        place: The folder.
        journal: History of the store.
        listener: Receives progress events of long work.
    """

    def __init__(self, place: Path, journal: Journal, listener: Listener = SILENT) -> None:
        self.place, self.listener = place, listener
        self._journal = journal

    @cached_property
    def _states(self) -> "States":
        # Models are slow to import, and many calls of a store need none.
        from nodegraft.store.objects.states import States

        return States(self.place, self._objects)

    @cached_property
    def _objects(self) -> "Objects":
        from nodegraft.store.objects.objects import Objects

        settings = settings_in(self.place)
        return Objects(settings.objects_of(self.place), in_store=settings.objects is None)

    @classmethod
    def open(cls, place: str | Path, *, listener: Listener = SILENT) -> Self:
        """Open the store in a folder.

        Args:
            place: Folder that :meth:`nodegraft.Store.init` created.
            listener: Receives progress events, such as :class:`nodegraft.PrintProgress`.
        """
        folder = Path(place).expanduser()
        settings = settings_in(folder)
        refuse_links(folder)
        journal = journal_in(folder, settings)
        try:
            require_current(journal)
            refuse_damaged(folder, journal)
            journal.version()
        except StoreError:
            journal.close()
            raise
        return cls(folder, journal, listener)

    def close(self) -> None:
        """Close the connection to the database."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def history(self) -> Records[Version]:
        """Return all versions, oldest first."""
        return Records(self._journal.versions())

    def version(self, number: int | None = None) -> Version:
        """Return one version: its change and the names of its objects.

        Args:
            number: Number of the version; None for the candidate.
        """
        return self._journal.version(number)

    @property
    def table_options(self) -> dict[str, Any]:
        """Options for reading tables (columns, key type, delimiter), as given to ``init``."""
        options: dict[str, Any] = self._journal.version(1).detail["tables"]
        return options

    def made_for(self, key: IdempotencyKey) -> Version | None:
        """Return the version that an earlier copy of a request made; None if there is none.

        Args:
            key: Key of the request; it is refused if it was used for another request.
        """
        version = self._journal.version_for(key.key)
        if version is not None:
            key.require_same(IdempotencyKey(**version.measures["request"]))
        return version

    def promotions(self) -> Records[Promotion]:
        """Return all promotions, oldest first: which version became live, and when."""
        return Records(self._journal.promotions())

    @property
    def candidate(self) -> int:
        """Number of the newest version that changed something."""
        return self._journal.candidate().number

    @property
    def champion(self) -> int:
        """Number of the live version."""
        return self._journal.promotions()[-1].version

    def waiting(self) -> Version | None:
        """Return the candidate version that waits for review; None if it equals the live one."""
        candidate = self._journal.candidate()
        live = self._journal.version(self.champion)
        return None if candidate.names == live.names else candidate

    @property
    def world(self) -> "World":
        """Whether nodes may belong to unknown classes; the setting ``world``.

        It is closed if the method has no open-set score.
        """
        return "closed" if self.closed_method else self.declared_world

    @property
    def closed_method(self) -> str | None:
        """Method of the live version if it has no open-set score; None if it has one."""
        from nodegraft.model.registry import has_open_set_score

        model = self._journal.version(self.champion).model
        method: str = self._objects.document(model)["method"]
        return None if has_open_set_score(method) else method

    @property
    def declared_world(self) -> "World":
        """Value of the setting ``world``, which a method without an open-set score ignores."""
        from nodegraft.store.settings.known_settings import WORLD, setting_value

        with self._journal.connection() as connection:
            return cast("World", setting_value(connection, WORLD.name))

    def pruned(self) -> dict[int, Version]:
        """Return the pruned versions, each with the version that pruned it."""
        return self._journal.pruned()

    def state(self, version: int | None = None) -> "State":
        """Return graph, labels and model of a version.

        Args:
            version: Number of the version; None for the live version.
        """
        found = self._journal.version(self.champion if version is None else version)
        return self._state(found)

    def clear_stale(self, most: int, until: Callable[[], bool] = lambda: False) -> "Cleared":
        """Recompute cached rows that :meth:`grow` made stale, before the next change needs them.

        Propagated features near new edges change, and are otherwise recomputed when they are
        needed. This recomputes them in idle time, for the versions that this process has loaded.

        Args:
            most: Approximate maximum number of rows, because rows take memory.
            until: Called every few thousand rows; the work stops when it returns true.
        """
        return self._states.clear_stale(most, until)

    def graph(self, version: int | None = None) -> "Graph":
        """Return the graph of a version, without its model.

        Args:
            version: Number of the version; None for the candidate.
        """
        return self._states.graph(self._whole(version).graph)

    def _whole(self, version: int | None) -> Version:
        found = self._journal.version(version)
        self._refuse_pruned(found)
        return found

    def texts(self, nodes: Sequence[Key], version: int | None = None) -> list[str | None]:
        """Return the beginning of the text of each node; None where there is no text.

        Args:
            nodes: Keys of nodes.
            version: Number of the version; None for the candidate.
        """
        found = self._whole(version)
        rows = self._states.graph(found.graph).rows_of(nodes)
        if found.texts is None:
            return [None] * len(rows)
        return [text or None for text in self._states.texts(found.texts).at(rows)]

    def search(self, words: str, limit: int = 20, version: int | None = None) -> list[Key]:
        """Return nodes whose key and text together contain all these words or parts of words.

        Args:
            words: Words with blanks between them; case is ignored.
            limit: Maximum number of nodes.
            version: Number of the version; None for the candidate.
        """
        found, wanted = self._whole(version), words.casefold().split()
        keys = self._states.graph(found.graph).node_keys
        texts = repeat("") if found.texts is None else iter(self._states.texts(found.texts))
        # Search in blocks, because the keys of a graph on disk need not fit into memory.
        starts = range(0, len(keys), SEARCHED)
        blocks = (range(start, min(start + SEARCHED, len(keys))) for start in starts)
        nodes = chain.from_iterable(keys.at(block) for block in blocks)
        fitting = (
            node
            for node, text in zip(nodes, texts, strict=False)
            if all(word in f"{node} {text}".casefold() for word in wanted)
        )
        return list(islice(fitting, limit))

    def predict(
        self,
        nodes: Sequence[Key] | None = None,
        *,
        version: int | None = None,
        top: int = 1,
        min_confidence: float | None = None,
        missing: "Missing" = "error",
        ignore_labels: bool = False,
        coverage: float | None = None,
    ) -> "Answers":
        """Return the class of each node, and where it comes from.

        The class of a node with a label is its label; label and prediction are both in the table.
        ``reason`` is ``own_label``, ``prediction``, ``below_confidence`` or ``unknown_key``.

        Args:
            nodes: Keys of nodes; None for all.
            version: Number of the version; None for the live version.
            top: Number of classes for each node, the likeliest first.
            min_confidence: Between 0 and 1: predictions with less confidence are withheld.
            missing: Treatment of keys that the graph does not have: ``error`` raises an error
                that names them, ``skip`` leaves them out, ``null`` gives a row without a class.
            ignore_labels: Whether the class of a labelled node is its prediction, not its label.
            coverage: Between 0 and 1, such as 0.9: also return a set of classes for each node that
                contains its class for this share of the nodes of known classes. The first call for
                a version takes longer: it calibrates on labels that were not used for training.
        """
        from nodegraft.analysis.predictions import answered, found_rows

        number = self.champion if version is None else version
        state = self.state(number)
        if nodes is None:
            rows, keys = state.graph.rows, None
        else:
            rows, keys = found_rows(state.graph, nodes, missing)
        return answered(
            state,
            rows,
            number,
            top,
            min_confidence,
            keys=keys,
            ignore_labels=ignore_labels,
            coverage=coverage,
        )

    def score(self, labels: "Labels | None" = None, version: int | None = None) -> float:
        """Return the accuracy, from 0 to 1.

        Args:
            labels: True class -> keys of its nodes, or another form of labels; None for the
                held-out nodes of the version.
            version: Number of the version; None for the live version.
        """
        from nodegraft.analysis.grading import graded

        return graded(self.state(version), labels).accuracy

    def classification_report(
        self, labels: "Labels | None" = None, version: int | None = None
    ) -> str:
        """Return precision, recall and F1 of each class as text, as scikit-learn prints them.

        Args:
            labels: True labels, as in :meth:`score`.
            version: Number of the version; None for the live version.
        """
        from nodegraft.analysis.grading import graded
        from nodegraft.evaluation.confusion import classification_report

        asked = graded(self.state(version), labels)
        return classification_report(asked.truth, asked.answers)

    def confusion_matrix(
        self,
        labels: "Labels | None" = None,
        version: int | None = None,
        min_confidence: float | None = None,
    ) -> "ConfusionMatrix":
        """Count the nodes of each true class by predicted class.

        Args:
            labels: True labels, as in :meth:`score`.
            version: Number of the version; None for the live version.
            min_confidence: Between 0 and 1: predictions with less confidence are withheld and
                counted separately.
        """
        from nodegraft.analysis.grading import graded
        from nodegraft.evaluation.confusion import ConfusionMatrix

        asked = graded(self.state(version), labels, min_confidence)
        return ConfusionMatrix.of(asked.truth, asked.answers)

    def explain(self, node: Key, version: int | None = None) -> dict[str, Any]:
        """Explain the prediction for a node.

        Args:
            node: Key of the node.
            version: Number of the version; None for the live version.
        """
        state = self.state(version)
        return state.model.explain(state.graph, node)

    def suggest(self, count: int = 10, version: int | None = None) -> "Records[Suggestion]":
        """Suggest nodes to label next: uncertain nodes, each of which represents similar ones.

        Args:
            count: Number of nodes.
            version: Number of the version; None for the candidate.
        """
        from nodegraft.analysis.suggestions.suggestion import suggestions

        state = self.state(self.candidate if version is None else version)
        return Records(suggestions(state, count))

    def suggest_classes(self, count: int = 3, version: int | None = None) -> "Records[NewClass]":
        """Suggest groups of nodes that may be a new class, the largest first.

        Args:
            count: Maximum number of groups.
            version: Number of the version; None for the candidate.
        """
        from nodegraft.analysis.suggestions.new_classes import new_classes

        state = self.state(self.candidate if version is None else version)
        return Records(new_classes(state, count))

    def drift(self, before: int | None = None, after: int | None = None) -> "Records[Shift]":
        """Measure the drift of predictions, confidence, edges and features between two versions.

        Args:
            before: Number of the earlier version; None for the live version.
            after: Number of the later version; None for the candidate.
        """
        from nodegraft.analysis.drift import shifts

        today = self.state(self.candidate if after is None else after)
        return Records(shifts(self.state(before), today))

    def evaluate(
        self,
        methods: Sequence[str] | None = None,
        *,
        seeds: int = 5,
        shots: int = 5,
        version: int | None = None,
    ) -> "Evaluation":
        """Compare methods on the labels of this store.

        Half of the classes are known at first, the others arrive in sessions; query nodes are not
        used for training (the strict protocol). Nothing in the store is changed.

        Args:
            methods: Names of methods; None for the store's own method, with its parameters, and
                some fast ones.
            seeds: Number of random draws of new classes and training nodes.
            shots: Number of training labels of a new class; classes with fewer than twice as many
                labels are left out.
            version: Number of the version with the labels; None for the candidate.
        """
        from nodegraft.analysis.own_labels.evaluation import evaluated

        number = self.candidate if version is None else version
        return evaluated(self.state(number), number, methods, seeds, shots, self.listener)

    def card(self, version: int | None = None) -> "Card":
        """Return the model card of a version: classes, labels, held-out accuracy and history.

        Args:
            version: Number of the version; None for the live version.
        """
        from nodegraft.analysis.card.card import card_of

        found = self._whole(self.champion if version is None else version)
        history = [one for one in self.history() if one.number <= found.number]
        first = next((one for one in self.promotions() if one.version == found.number), None)
        names, pruned = self._states.class_names, self._journal.pruned()
        return card_of(self._state(found), history, first, names, pruned)

    def diff(self, before: int, after: int) -> "Preview":
        """Compare the predictions of two versions.

        Args:
            before: Number of the earlier version.
            after: Number of the later version.
        """
        from nodegraft.analysis.preview import compare

        return compare(self.state(before), self.state(after))

    def _state(self, version: Version) -> "State":
        self._refuse_pruned(version)
        return self._states.get(version.names).in_world(self.declared_world)

    def _refuse_pruned(self, version: Version) -> None:
        refuse_pruned(version.number, self._journal.pruned())

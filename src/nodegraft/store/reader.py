"""A store as its readers know it: which versions there are, and what they answer."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from nodegraft.base.errors import StoreError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.tabular import Records
from nodegraft.graph.keys import Key
from nodegraft.store.damage import refuse_damaged
from nodegraft.store.journal import Journal, refuse_pruned
from nodegraft.store.links import refuse_links
from nodegraft.store.migration import require_current
from nodegraft.store.request import Request
from nodegraft.store.rows import Promotion, Version
from nodegraft.store.settings import journal_in, settings_in

if TYPE_CHECKING:
    from nodegraft.evaluation.confusion import ConfusionMatrix
    from nodegraft.graph.clearing import Cleared
    from nodegraft.graph.graph import Graph
    from nodegraft.model.confidence import World
    from nodegraft.store.answers import Answers, Missing
    from nodegraft.store.card import Card
    from nodegraft.store.comparison import Evaluation
    from nodegraft.store.drift import Shift
    from nodegraft.store.new_classes import NewClass
    from nodegraft.store.objects import Objects
    from nodegraft.store.preview import Preview
    from nodegraft.store.state import State, States
    from nodegraft.store.suggestion import Suggestion
    from nodegraft.tables.labels import Labels

SEARCHED = 1 << 16
"""So many keys are searched at a time."""


class StoreReader:
    """A folder with versions of a model.

    Args:
        place: The folder.
        journal: What was done to it.
    """

    def __init__(self, place: Path, journal: Journal) -> None:
        self.place = place
        self._journal = journal

    @cached_property
    def _states(self) -> "States":
        # Models are slow to import, and much that is asked of a store needs none.
        from nodegraft.store.state import States

        return States(self.place, self._objects)

    @cached_property
    def _objects(self) -> "Objects":
        from nodegraft.store.objects import Objects

        settings = settings_in(self.place)
        return Objects(settings.objects_of(self.place), in_store=settings.objects is None)

    @classmethod
    def open(cls, place: str | Path) -> Self:
        """The store in a folder.

        Args:
            place: What :meth:`nodegraft.Store.init` made.
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
        return cls(folder, journal)

    def close(self) -> None:
        """Let go of the database."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def history(self) -> Records[Version]:
        """All versions, oldest first."""
        return Records(self._journal.versions())

    def version(self, number: int | None = None) -> Version:
        """One version: what was done, and what it is kept in.

        Args:
            number: Which one; None for the candidate.
        """
        return self._journal.version(number)

    @property
    def table_options(self) -> dict[str, Any]:
        """How tables are read (columns, key type, delimiter), as said when the store was made."""
        options: dict[str, Any] = self._journal.version(1).detail["tables"]
        return options

    def made_for(self, request: Request) -> Version | None:
        """The version that a request made when it came before; None if it did not.

        Args:
            request: The request; one whose key was used for something else is refused.
        """
        version = self._journal.version_for(request.key)
        if version is not None:
            request.require_same(Request(**version.measures["request"]))
        return version

    def promotions(self) -> Records[Promotion]:
        """Which version answered from when on, oldest first."""
        return Records(self._journal.promotions())

    @property
    def candidate(self) -> int:
        """The newest version that changed something."""
        return self._journal.candidate().number

    @property
    def champion(self) -> int:
        """The version that answers."""
        return self._journal.promotions()[-1].version

    def waiting(self) -> Version | None:
        """Return the candidate version that waits for review; None if it equals the live one."""
        candidate = self._journal.candidate()
        live = self._journal.version(self.champion)
        return None if candidate.names == live.names else candidate

    @property
    def world(self) -> "World":
        """Whether nodes may belong to classes that are not known; the setting ``world``.

        Closed, if the method has no open-set score.
        """
        return "closed" if self.closed_method else self.declared_world

    @property
    def closed_method(self) -> str | None:
        """The method of the live version, if it has no open-set score; None if it has one."""
        from nodegraft.model.registry import has_open_set_score

        model = self._journal.version(self.champion).model
        method: str = self._objects.document(model)["method"]
        return None if has_open_set_score(method) else method

    @property
    def declared_world(self) -> "World":
        """The value of the setting ``world``, which a method without an open-set score ignores."""
        from nodegraft.store.known_settings import WORLD, setting_value

        with self._journal.connection() as connection:
            return cast("World", setting_value(connection, WORLD.name))

    def pruned(self) -> dict[int, Version]:
        """Versions whose graph, labels and model are gone -> the version that pruned each."""
        return self._journal.pruned()

    def state(self, version: int | None = None) -> "State":
        """Graph, labels and model of a version.

        Args:
            version: Its number; None for the champion.
        """
        found = self._journal.version(self.champion if version is None else version)
        return self._state(found)

    def clear_stale(self, most: int, until: Callable[[], bool] = lambda: False) -> "Cleared":
        """After :meth:`grow`, work out what it made stale before the next change needs it.

        Rows of spread features near new edges are others; whoever needs one makes it. This makes
        them while there is nothing else to do, of the versions that this process has at hand.

        Args:
            most: They take memory, so make at most about so many rows.
            until: Is asked every few thousand rows; it ends when this is true.
        """
        return self._states.clear_stale(most, until)

    def graph(self, version: int | None = None) -> "Graph":
        """The graph of a version, without its model.

        Args:
            version: Its number; None for the candidate.
        """
        return self._states.graph(self._whole(version).graph)

    def _whole(self, version: int | None) -> Version:
        found = self._journal.version(version)
        self._refuse_pruned(found)
        return found

    def texts(self, nodes: Sequence[Key], version: int | None = None) -> list[str | None]:
        """What can be read about nodes: how their text begins, None where none was kept.

        Args:
            nodes: Keys of nodes.
            version: Which one has them; None for the candidate.
        """
        found = self._whole(version)
        rows = self._states.graph(found.graph).rows_of(nodes)
        if found.texts is None:
            return [None] * len(rows)
        return [text or None for text in self._states.texts(found.texts).at(rows)]

    def search(self, words: str, limit: int = 20, version: int | None = None) -> list[Key]:
        """Nodes whose key and text have all these words in them, also as parts of words.

        Args:
            words: With blanks between; large and small letters are the same.
            limit: How many nodes at most.
            version: Which one has them; None for the candidate.
        """
        found, wanted = self._whole(version), words.casefold().split()
        keys = self._states.graph(found.graph).node_keys
        texts = repeat("") if found.texts is None else iter(self._states.texts(found.texts))
        # Some at a time: the keys of a graph on disk need not fit into memory.
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
            version: Which one answers; None for the champion.
            top: How many classes of each, the likeliest first.
            min_confidence: Between 0 and 1: predictions with less confidence are withheld.
            missing: What happens to keys that the graph does not have: ``error`` raises an error
                that names them, ``skip`` leaves them out, ``null`` gives a row without a class.
            ignore_labels: Whether the class of a node with a label is the prediction, too.
            coverage: Between 0 and 1, such as 0.9: also give a set of classes for each node, which
                holds its class in this share of the nodes of known classes. The first call for a
                version takes longer: it calibrates on labels that did not teach.
        """
        from nodegraft.store.answers import answered, found_rows

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
        """The share of right answers, from 0 to 1.

        Args:
            labels: Class name -> keys of nodes that are of it in truth, or another form of labels;
                None for the nodes that the version holds out.
            version: Which one answers; None for the champion.
        """
        from nodegraft.store.grading import graded

        return graded(self.state(version), labels).accuracy

    def classification_report(
        self, labels: "Labels | None" = None, version: int | None = None
    ) -> str:
        """Precision, recall and F1 of each class, as scikit-learn prints them.

        Args:
            labels: The truth, as in :meth:`score`.
            version: Which one answers; None for the champion.
        """
        from nodegraft.evaluation.confusion import classification_report
        from nodegraft.store.grading import graded

        asked = graded(self.state(version), labels)
        return classification_report(asked.truth, asked.answers)

    def confusion_matrix(
        self,
        labels: "Labels | None" = None,
        version: int | None = None,
        min_confidence: float | None = None,
    ) -> "ConfusionMatrix":
        """How many nodes of each class are answered to be of which.

        Args:
            labels: The truth, as in :meth:`score`.
            version: Which one answers; None for the champion.
            min_confidence: Between 0 and 1: answers that are less sure are kept back, and counted
                apart.
        """
        from nodegraft.evaluation.confusion import ConfusionMatrix
        from nodegraft.store.grading import graded

        asked = graded(self.state(version), labels, min_confidence)
        return ConfusionMatrix.of(asked.truth, asked.answers)

    def explain(self, node: Key, version: int | None = None) -> dict[str, Any]:
        """Why a node is answered as it is.

        Args:
            node: Its key.
            version: Which one answers; None for the champion.
        """
        state = self.state(version)
        return state.model.explain(state.graph, node)

    def suggest(self, count: int = 10, version: int | None = None) -> "Records[Suggestion]":
        """Which nodes to label next: unsure ones, each standing for others like it.

        Args:
            count: How many.
            version: Which one is unsure; None for the candidate.
        """
        from nodegraft.store.suggestion import suggestions

        state = self.state(self.candidate if version is None else version)
        return Records(suggestions(state, count))

    def suggest_classes(self, count: int = 3, version: int | None = None) -> "Records[NewClass]":
        """Groups of nodes that may be a class nobody has taught, the largest first.

        Args:
            count: How many groups at most.
            version: Which one takes them to be of no known class; None for the candidate.
        """
        from nodegraft.store.new_classes import new_classes

        state = self.state(self.candidate if version is None else version)
        return Records(new_classes(state, count))

    def drift(self, before: int | None = None, after: int | None = None) -> "Records[Shift]":
        """How far answers, confidence, edges and features have moved between two versions.

        Args:
            before: The version that is compared with; None for the champion.
            after: The version of today; None for the candidate.
        """
        from nodegraft.store.drift import shifts

        today = self.state(self.candidate if after is None else after)
        return Records(shifts(self.state(before), today))

    def evaluate(
        self,
        methods: Sequence[str] | None = None,
        *,
        seeds: int = 5,
        shots: int = 5,
        version: int | None = None,
        listener: Listener = SILENT,
    ) -> "Evaluation":
        """Which method is best on these labels, and what each new class costs.

        Half of the classes are taken as known, the others arrive in sessions; nodes that are asked
        about teach nobody (the strict protocol). Nothing in the store is changed.

        Args:
            methods: Names of methods; None for the store's own, with its parameters, and some that
                are fast.
            seeds: How many times it is drawn which classes are new and which nodes teach.
            shots: How many labels teach a new class; classes with fewer than twice as many are
                left out.
            version: Whose labels; None for the candidate, which has the newest.
            listener: Is told how far it is.
        """
        from nodegraft.store.evaluation import evaluated

        number = self.candidate if version is None else version
        return evaluated(self.state(number), number, methods, seeds, shots, listener)

    def card(self, version: int | None = None) -> "Card":
        """What a version is, what it was taught, how well it answers, and how it came about.

        Args:
            version: Its number; None for the champion.
        """
        from nodegraft.store.card import card_of

        found = self._whole(self.champion if version is None else version)
        history = [one for one in self.history() if one.number <= found.number]
        first = next((one for one in self.promotions() if one.version == found.number), None)
        names, pruned = self._states.class_names, self._journal.pruned()
        return card_of(self._state(found), history, first, names, pruned)

    def diff(self, before: int, after: int) -> "Preview":
        """Which nodes two versions answer differently.

        Args:
            before: The number of one.
            after: The number of the other.
        """
        from nodegraft.store.preview import compare

        return compare(self.state(before), self.state(after))

    def _state(self, version: Version) -> "State":
        self._refuse_pruned(version)
        return self._states.get(version.names).in_world(self.declared_world)

    def _refuse_pruned(self, version: Version) -> None:
        refuse_pruned(version.number, self._journal.pruned())

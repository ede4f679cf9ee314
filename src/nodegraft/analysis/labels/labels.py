"""Labels of a version: training and held-out nodes of each class, and the changes of labels."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from nodegraft.base.counting import listed
from nodegraft.base.errors import ClassNameError, StoreError, UnknownNodeError
from nodegraft.base.files.bundle import Arrays, Document, prefixed, under
from nodegraft.base.problems import Problems
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import Key, hash_order, key_array, several
from nodegraft.graph.labels import NodeLabels, class_name, refuse_likely_duplicates
from nodegraft.graph.view import GraphView
from nodegraft.model.class_tree import NO_TREE, ClassTree

HELD_OUT, FEWEST = 0.2, 10
"""Share of a class's labels to hold out, and least number of labels for holding out any."""

Keys = tuple[Key, ...]


@dataclass(frozen=True)
class ClassLabels:
    """Labels of one class, ordered by the hashes of their keys."""

    session: int
    """Session in which the class was added; 0 for the first classes."""

    training: Keys
    """Keys of training nodes."""

    held_out: Keys = ()
    """Keys of held-out nodes."""

    @property
    def all(self) -> Keys:
        """Keys of all labelled nodes: training and held-out nodes."""
        return self.training + self.held_out

    def with_more(self, keys: Iterable[Key]) -> "ClassLabels":
        """Return labels with more nodes; hold out new nodes until the held-out share is reached.

        Args:
            keys: Keys of nodes that have no label yet.
        """
        new = _in_order(keys)
        total = len(self.all) + len(new)
        count = int(HELD_OUT * total) if total >= FEWEST else 0
        missing = max(0, count - len(self.held_out))
        return replace(
            self,
            training=_in_order(self.training + new[missing:]),
            held_out=_in_order(self.held_out + new[:missing]),
        )

    def without(self, keys: frozenset[Key]) -> "ClassLabels":
        """Return labels without some nodes.

        Args:
            keys: Keys of the nodes to remove.
        """
        training = tuple(key for key in self.training if key not in keys)
        held_out = tuple(key for key in self.held_out if key not in keys)
        return replace(self, training=training, held_out=held_out)

    def part(self, keys: Iterable[Key]) -> "ClassLabels":
        """Return the labels of a part of this class; nodes stay in training or stay held out.

        Args:
            keys: Nodes of the part; :meth:`with_more` adds those that have no label yet.
        """
        some = frozenset(keys)
        old = self.without(frozenset(self.all) - some)
        part = old.with_more(some.difference(old.all))
        # If all nodes of the part were held out, divide them again: training needs some nodes.
        return part if part.training else ClassLabels(self.session, ()).with_more(some)


class StoreLabels(Mapping[str, ClassLabels]):
    """Class name -> its labels. Immutable: every change returns new labels or raises an error.

    >>> labels = StoreLabels().added({"hats": ["a", "b"], "shoes": ["c"]})
    >>> labels.renamed("hats", "caps").merged(["caps", "shoes"], "wear").training
    {'wear': ('c', 'a', 'b')}

    Args:
        classes: Class name -> labels of the class.
        tree: Parents of the classes. Its groups, which have no labels, are not in the mapping.
    """

    def __init__(
        self, classes: Mapping[str, ClassLabels] | None = None, tree: ClassTree = NO_TREE
    ) -> None:
        self._classes, self.tree = dict(classes or {}), tree

    def __getitem__(self, name: str) -> ClassLabels:
        self._refuse_unknown([name])
        return self._classes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, StoreLabels)
            and self.has_classes_of(other)
            and self.tree == other.tree
        )

    def __hash__(self) -> int:
        return hash((tuple(self._classes.items()), self.tree))

    def has_classes_of(self, other: "StoreLabels") -> bool:
        """Return whether the classes, their order and labels are equal; parents may differ.

        Args:
            other: Labels of another version.
        """
        return list(self.items()) == list(other.items())

    @property
    def names(self) -> frozenset[str]:
        """Names of all classes and groups."""
        return self.tree.names.union(self._classes)

    @property
    def groups(self) -> list[str]:
        """Names of the class tree that have no labels of their own, sorted."""
        return self.tree.groups(self)

    def _with(self, classes: Mapping[str, ClassLabels], tree: ClassTree | None = None) -> Self:
        tree = self.tree if tree is None else tree
        return type(self)(classes, tree.within(classes))

    @property
    def training(self) -> dict[str, Keys]:
        """Class name -> training nodes."""
        return {name: own.training for name, own in self.items()}

    def training_rows(self, graph: GraphView) -> NodeLabels:
        """Return the row numbers of training nodes; class names are not validated again.

        Args:
            graph: A graph that has all these nodes.
        """
        return NodeLabels.by_key(graph, self.training)

    @property
    def num_training(self) -> int:
        """Number of training nodes."""
        return sum(len(own.training) for own in self.values())

    @property
    def held_out(self) -> dict[str, Keys]:
        """Class name -> held-out nodes; classes without held-out nodes are omitted."""
        return {name: own.held_out for name, own in self.items() if own.held_out}

    @property
    def sessions(self) -> dict[str, int]:
        """Class name -> session in which it was added."""
        return {name: own.session for name, own in self.items()}

    def owners(self) -> dict[Key, str]:
        """Return the class of every labelled node."""
        return {key: name for name, own in self.items() for key in own.all}

    def added(
        self,
        classes: Mapping[str, Iterable[Key]],
        force_name: bool = False,
        parent: str | None = None,
    ) -> "StoreLabels":
        """Return labels with new classes.

        Args:
            classes: New class -> keys of its nodes.
            force_name: Whether to allow names that differ from others only by case or blanks.
            parent: Parent of the new classes: a class, a group or the name of a new group. None
                for no parent, or the parent that a group has which becomes a class.
        """
        if not classes:
            raise ClassNameError("No class was given.")
        problems, new = Problems(), dict[str, Keys]()
        for name, keys in classes.items():
            with problems.collect():
                new[class_name(name)] = _listed(keys, name, problems)
        with problems.collect():
            known = [name for name in new if name in self]
            if known:
                raise ClassNameError(
                    f"The store already has the class {listed(map(repr, known))}: add labels to it "
                    "with `label`, or choose another name."
                )
        with problems.collect():
            self._check_names([name for name in new if name not in self], force_name)
        self._refuse_labelled(new, problems)
        problems.raise_all()
        session = max(self.sessions.values(), default=-1) + 1
        fresh = {name: ClassLabels(session, ()).with_more(keys) for name, keys in new.items()}
        labels = self._with({**self, **fresh})
        return labels if parent is None else labels.moved(dict.fromkeys(new, parent), force_name)

    def moved(self, parents: Mapping[str, str | None], force_name: bool = False) -> "StoreLabels":
        """Return labels in which some classes have another parent.

        Args:
            parents: Class or group -> its new parent, which may be a new group; None for no parent.
            force_name: Whether to allow names of new groups that are similar to other names.
        """
        if not parents:
            raise ClassNameError("No class was given.")
        problems, moved = Problems(), self
        with problems.collect():
            moved = self._with(self, self.tree.moved(parents))
        problems.raise_all()
        with problems.collect():
            unknown_groups = [name for name in parents if name not in moved.tree.names]
            self._refuse_unknown(unknown_groups, (*self.tree.names, *moved))
        with problems.collect():
            old = {*self, *self.tree.names}
            self._check_names([name for name in moved.groups if name not in old], force_name)
        problems.raise_all()
        return moved

    def labelled(self, more: Mapping[str, Iterable[Key]]) -> "StoreLabels":
        """Return labels with more nodes of known classes.

        Args:
            more: Class that exists -> keys of nodes that have no label yet.
        """
        problems = Problems()
        new = self._of_known_classes(more, problems)
        with problems.collect():
            self._check_key_type(new)
        self._refuse_labelled(new, problems)
        problems.raise_all()
        return self._with({**self, **{name: self[name].with_more(new[name]) for name in new}})

    def unlabelled(self, keys: Iterable[Key]) -> "StoreLabels":
        """Return labels without the labels of some nodes.

        Args:
            keys: Keys of labelled nodes.
        """
        problems, nodes = Problems(), _in_order(several(keys, "nodes"))
        with problems.collect():
            _refuse_repeated("Node", nodes, "listed twice")
        removed = frozenset(nodes)
        unknown = sorted(removed - self.owners().keys(), key=str)
        with problems.collect():
            if unknown:
                have, them = ("has", "one") if len(unknown) == 1 else ("have", "them")
                raise StoreError(
                    f"{_named('Node', unknown)} {have} no label in this store: add {them} with "
                    "`label`."
                )
        classes = {name: own.without(removed) for name, own in self.items()}
        with problems.collect():
            _require_training(classes)
        problems.raise_all()
        return self._with(classes)

    def relabelled(self, classes: Mapping[str, Iterable[Key]]) -> "StoreLabels":
        """Return labels in which the class of some labelled nodes is changed.

        Args:
            classes: Class that exists -> keys of nodes that have the label of another class.
        """
        problems = Problems()
        new = self._of_known_classes(classes, problems)
        moved = self
        with problems.collect():
            moved = self.unlabelled([key for keys in new.values() for key in keys])
        problems.raise_all()
        return moved.labelled(new)

    def removed(self, names: Iterable[str]) -> "StoreLabels":
        """Return labels without the given classes; their children move to the class above.

        Args:
            names: Names of the classes or groups to remove.
        """
        removed, problems = several(names, "class names"), Problems()
        with problems.collect():
            _refuse_repeated("Class", removed, "listed twice")
        with problems.collect():
            self._refuse_unknown(removed, self.tree.names)
        problems.raise_all()
        classes = {name: own for name, own in self.items() if name not in removed}
        if not classes:
            raise StoreError("A store needs at least one class: this would remove the last one.")
        return self._with(classes, self.tree.without(removed))

    def renamed(self, old: str, new: str, force_name: bool = False) -> "StoreLabels":
        """Return labels in which a class or group is renamed.

        Args:
            old: Current name.
            new: New name.
            force_name: See :meth:`added`.
        """
        self._refuse_unknown([old], self.tree.names)
        if new == old:
            raise ClassNameError(f"The class is called {old!r} already: give another name.")
        if new in self:
            advice = (
                "use `merge` to merge both"
                if old in self
                else f"use `move` to move the classes below {old!r}"
            )
            raise ClassNameError(f"The store already has the class {new!r}: {advice}.")
        self._refuse_groups([new])
        self._check_names([new], force_name, removed=[old])
        classes = {new if name == old else name: own for name, own in self.items()}
        return self._with(classes, self.tree.merged([old], new))

    def merged(self, names: Iterable[str], into: str, force_name: bool = False) -> "StoreLabels":
        """Return labels in which several classes are merged; the oldest class gives the session.

        The merged class gets all children, and its parent is the lowest class above all of them; a
        group that becomes the merged class keeps its own parent.

        Args:
            names: Names of the classes to merge.
            into: Name of the merged class: the name of one of these classes or of a group, or a new
                name.
            force_name: See :meth:`added`.
        """
        parts = list(dict.fromkeys(several(names, "class names")))
        if len(parts) < 2:
            raise StoreError("Merging needs at least two classes.")
        self._refuse_unknown(parts)
        if into in self and into not in parts:
            raise ClassNameError(
                f"The store already has the class {into!r}: list it among the classes to merge."
            )
        if into not in self:
            self._check_names([into], force_name, removed=parts)
        both = [self[name] for name in parts]
        merged = ClassLabels(
            min(part.session for part in both),
            _in_order(key for part in both for key in part.training),
            _in_order(key for part in both for key in part.held_out),
        )
        classes = {name: labels for name, labels in self.items() if name not in parts}
        return self._with({**classes, into: merged}, self.tree.merged(parts, into))

    def split(
        self,
        name: str,
        parts: Mapping[str, Iterable[Key]],
        force_name: bool = False,
    ) -> "StoreLabels":
        """Return labels in which a class is split; each part has session and parent of the class.

        Training nodes stay training nodes, and held-out nodes stay held out. A part that has only
        held-out nodes is divided again like a new class, because it needs training nodes.

        Args:
            name: Name of the class to split.
            parts: New class -> keys of nodes; they may be labels of the old class. Labels of the
                old class that are in no part are removed.
            force_name: See :meth:`added`.
        """
        old, classes = self[name], {other: own for other, own in self.items() if other != name}
        if len(parts) < 2:
            raise StoreError("Splitting needs at least two new classes.")
        self._refuse_groups(parts)
        rest = StoreLabels(classes)
        # A part may reuse the name of the class that is split.
        removed = [] if name in parts else [name]
        problems, new = Problems(), rest
        with problems.collect():
            self._check_names([part for part in parts if part != name], force_name, removed)
        with problems.collect():
            new = rest.added(parts, force_name=True)
        problems.raise_all()
        tree = self.tree if name in parts else self.tree.without([name])
        tree = tree.moved({part: self.tree.get(name) for part in parts})
        return self._with({**classes, **{part: old.part(new[part].all) for part in parts}}, tree)

    def state(self) -> tuple[Arrays, Document]:
        """Return the labels as arrays and JSON."""
        training, held_out = (
            KeyedLabels({name: key_array(keys) for name, keys in some.items()}).to_arrays()
            for some in (self.training, {name: own.held_out for name, own in self.items()})
        )
        arrays = prefixed("taught.", training) | prefixed("held_out.", held_out)
        document = {"kind": "labels", "schema": 1, "sessions": list(self.sessions.items())}
        if self.tree:
            # Releases that do not know parents read schema 1 only, so they refuse these labels.
            document |= {"schema": 2, "parents": sorted(self.tree.items())}
        return arrays, document

    @classmethod
    def from_state(cls, arrays: Arrays, document: Document) -> "StoreLabels":
        """Restore labels from the arrays and JSON that :meth:`state` returned.

        Args:
            arrays: Arrays from :meth:`state`.
            document: JSON from :meth:`state`.
        """
        if document.get("kind") != "labels" or document.get("schema") not in (1, 2):
            raise StoreError(
                "This object of the store does not contain labels that this nodegraft can read."
            )
        sessions: list[Any] = document["sessions"]
        names = [name for name, _ in sessions]
        parts = [
            KeyedLabels.from_arrays(names, under(prefix, arrays))
            for prefix in ("taught.", "held_out.")
        ]
        return cls(
            {
                name: ClassLabels(session, *(tuple(part[name].tolist()) for part in parts))
                for name, session in sessions
            },
            ClassTree(dict(document.get("parents", ()))),
        )

    def _check_names(
        self, new: Iterable[str], force_name: bool, removed: Sequence[str] = ()
    ) -> None:
        names = [class_name(name) for name in new]
        if not force_name:
            others = [name for name in {*self, *self.groups} if name not in (*removed, *names)]
            refuse_likely_duplicates(names, others)

    def _refuse_groups(self, new: Iterable[str]) -> None:
        groups = [name for name in new if name in self.groups]
        if groups:
            raise ClassNameError(
                f"{listed(map(repr, groups))} is already a group of classes in this store: choose "
                "another name."
            )

    def _refuse_unknown(self, names: Iterable[str], allowed: Collection[str] = ()) -> None:
        unknown = [name for name in dict.fromkeys(names) if name not in {*self._classes, *allowed}]
        if unknown:
            text = listed(map(repr, unknown))
            known = ", ".join(sorted({*self._classes, *allowed})[:8])
            raise ClassNameError(f"The store has no class {text}. It has {known}.")

    def _of_known_classes(
        self, classes: Mapping[str, Iterable[Key]], problems: Problems
    ) -> dict[str, Keys]:
        """Return class -> keys; collect invalid class names and keys as problems."""
        new = dict[str, Keys]()
        with problems.collect():
            self._refuse_unknown(classes)
        for name, keys in classes.items():
            with problems.collect():
                new[name] = _listed(keys, name, problems)
        return new

    def _check_key_type(self, new: Mapping[str, Keys]) -> None:
        """Refuse new keys whose type (text or integer) differs from that of labelled nodes."""
        own = next((key for own in self.values() for key in own.all), None)
        keys = [key for keys in new.values() for key in keys]
        other = [key for key in keys if isinstance(key, str) != isinstance(own, str)]
        if own is not None and other:
            key_type = "text" if isinstance(own, str) else "integer"
            raise UnknownNodeError(other, len(keys), key_type)

    def _refuse_labelled(self, new: Mapping[str, Keys], problems: Problems) -> None:
        owners, new_owners = self.owners(), dict[Key, str]()
        labelled: dict[str, list[Key]] = {}
        for name, keys in new.items():
            for key in keys:
                if key in owners:
                    labelled.setdefault(owners[key], []).append(key)
                elif key in new_owners:
                    with problems.collect():
                        raise StoreError(
                            f"Node {key!r} is listed for {new_owners[key]!r} and for {name!r}: a "
                            "node has one class."
                        )
                new_owners[key] = name
        for owner, nodes in labelled.items():
            with problems.collect():
                have, them = ("has", "it") if len(nodes) == 1 else ("have", "them")
                other = "" if set(nodes) <= set(new.get(owner, ())) else ", or use `relabel`"
                raise StoreError(
                    f"{_named('Node', dict.fromkeys(nodes))} already {have} the label {owner!r}. "
                    f"A node has one class: omit {them}{other}."
                )


def _in_order(keys: Iterable[Key]) -> Keys:
    every = list(keys)
    if not every:
        return ()
    array = key_array(every)
    if array.ndim != 1:
        raise StoreError(f"Node keys are text or integers, not {every[0]!r}.")
    return tuple(array[hash_order(array)].tolist())


def _listed(keys: Iterable[Key], name: str, problems: Problems) -> Keys:
    ordered = _in_order(several(keys, f"nodes of {name!r}"))
    if not ordered:
        raise ClassNameError(f"Class {name!r} has no nodes.")
    with problems.collect():
        _refuse_repeated("Node", ordered, f"listed twice for {name!r}")
    return tuple(dict.fromkeys(ordered))


def _named(noun: str, values: Iterable[object]) -> str:
    """Join values in a phrase, with the noun in singular or plural.

    >>> _named("Node", ["p1"]), _named("Class", ["hats", "caps"])
    ("Node 'p1'", "Classes 'hats', 'caps'")
    """
    texts = [repr(value) for value in values]
    plural = "es" if noun.endswith("s") else "s"
    return f"{noun}{plural if len(texts) > 1 else ''} {listed(texts)}"


def _refuse_repeated(noun: str, values: Iterable[Key], what: str) -> None:
    repeated = [value for value, count in Counter(values).items() if count > 1]
    if repeated:
        verb = "is" if len(repeated) == 1 else "are"
        raise StoreError(f"{_named(noun, repeated)} {verb} {what}.")


def _require_training(classes: Mapping[str, ClassLabels]) -> None:
    empty = [name for name, own in classes.items() if not own.training]
    if empty:
        raise StoreError(
            f"{_named('Class', empty)} would have no label left to learn from: use `remove` to "
            f"remove {'the class' if len(empty) == 1 else 'them'}."
        )

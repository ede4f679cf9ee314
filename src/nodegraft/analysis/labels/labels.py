"""Labels of a version: training and held-out nodes of each class, and the changes of labels."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from nodegraft.analysis.labels.class_labels import ClassLabels, Keys, in_order
from nodegraft.analysis.labels.label_checks import (
    check_key_type,
    noun_phrase,
    ordered_keys,
    refuse_labelled,
    refuse_repeated,
    require_training,
)
from nodegraft.base.counting import listed
from nodegraft.base.errors import ClassNameError, SeveralLabelsError, StoreError
from nodegraft.base.files.bundle import Arrays, Document, prefixed, under
from nodegraft.base.problems import Problems
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import Key, key_array, several
from nodegraft.graph.labels import NodeLabels, class_name, refuse_likely_duplicates
from nodegraft.graph.view import GraphView
from nodegraft.model.class_tree import NO_TREE, ClassTree


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
        if not isinstance(other, StoreLabels):
            return NotImplemented
        return self.has_classes_of(other) and self.tree == other.tree

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
                new[class_name(name)] = ordered_keys(keys, name, problems)
        with problems.collect():
            if existing := [name for name in new if name in self]:
                raise ClassNameError(
                    f"The store already has the class {listed(map(repr, existing))}: add labels to "
                    "it with `label`, or choose another name."
                )
        with problems.collect():
            self._check_names([name for name in new if name not in self], force_name)
        refuse_labelled(self.owners(), new, problems)
        problems.raise_all()
        session = max(self.sessions.values(), default=-1) + 1
        own = {name: ClassLabels(session, ()).with_more(keys) for name, keys in new.items()}
        labels = self._with({**self, **own})
        return labels if parent is None else labels.moved(dict.fromkeys(new, parent), force_name)

    def moved(self, parents: Mapping[str, str | None], force_name: bool = False) -> "StoreLabels":
        """Return labels in which some classes have another parent.

        Args:
            parents: Class or group -> its new parent, which may be a new group; None for no parent.
            force_name: Whether to allow names of new groups that are similar to other names.
        """
        if not parents:
            raise ClassNameError("No class was given.")
        problems, labels = Problems(), self._with(self, self.tree.moved(parents))
        with problems.collect():
            unknown_groups = [name for name in parents if name not in labels.tree.names]
            self._refuse_unknown(unknown_groups, (*self.tree.names, *labels))
        with problems.collect():
            new_groups = [name for name in labels.groups if name not in self.names]
            self._check_names(new_groups, force_name)
        problems.raise_all()
        return labels

    def labelled(self, more: Mapping[str, Iterable[Key]]) -> "StoreLabels":
        """Return labels with more nodes of known classes.

        Args:
            more: Class that exists -> keys of nodes that have no label yet.
        """
        problems = Problems()
        new = self._of_known_classes(more, problems)
        with problems.collect():
            check_key_type(self.owners(), new)
        refuse_labelled(self.owners(), new, problems)
        problems.raise_all()
        return self._with({**self, **{name: self[name].with_more(new[name]) for name in new}})

    def unlabelled(self, keys: Iterable[Key]) -> "StoreLabels":
        """Return labels without the labels of some nodes.

        Args:
            keys: Keys of labelled nodes.
        """
        problems, nodes = Problems(), in_order(several(keys, "nodes"))
        with problems.collect():
            refuse_repeated("Node", nodes, "listed twice")
        unwanted = frozenset(nodes)
        unknown = sorted(unwanted - self.owners().keys(), key=str)
        with problems.collect():
            if unknown:
                have, them = ("has", "one") if len(unknown) == 1 else ("have", "them")
                raise StoreError(
                    f"{noun_phrase('Node', unknown)} {have} no label in this store: add {them} "
                    "with `label`."
                )
        classes = {name: own.without(unwanted) for name, own in self.items()}
        with problems.collect():
            require_training(classes)
        problems.raise_all()
        return self._with(classes)

    def relabelled(self, classes: Mapping[str, Iterable[Key]]) -> "StoreLabels":
        """Return labels in which the class of some labelled nodes is changed.

        Args:
            classes: Class that exists -> keys of nodes that have the label of another class.
        """
        problems = Problems()
        new = self._of_known_classes(classes, problems)
        labels = self
        with problems.collect():
            labels = self.unlabelled([key for keys in new.values() for key in keys])
        problems.raise_all()
        return labels.labelled(new)

    def removed(self, names: Iterable[str]) -> "StoreLabels":
        """Return labels without the given classes; their children move to the class above.

        Args:
            names: Names of the classes or groups to remove.
        """
        unwanted, problems = several(names, "class names"), Problems()
        with problems.collect():
            refuse_repeated("Class", unwanted, "listed twice")
        with problems.collect():
            self._refuse_unknown(unwanted, self.tree.names)
        problems.raise_all()
        classes = {name: own for name, own in self.items() if name not in unwanted}
        if not classes:
            raise StoreError("A store needs at least one class: this would remove the last one.")
        return self._with(classes, self.tree.without(unwanted))

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
        self._check_names([new], force_name, old_names=[old])
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
            self._check_names([into], force_name, old_names=parts)
        own = [self[name] for name in parts]
        new_class = ClassLabels(
            min(part.session for part in own),
            in_order(key for part in own for key in part.training),
            in_order(key for part in own for key in part.held_out),
        )
        classes = {name: labels for name, labels in self.items() if name not in parts}
        return self._with({**classes, into: new_class}, self.tree.merged(parts, into))

    def split(
        self, name: str, parts: Mapping[str, Iterable[Key]], force_name: bool = False
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
        old_names = [] if name in parts else [name]
        problems, new = Problems(), rest
        with problems.collect():
            self._check_names([part for part in parts if part != name], force_name, old_names)
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
        if document.get("kind") == "label sets":
            raise SeveralLabelsError("This")
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
        self, new: Iterable[str], force_name: bool, old_names: Sequence[str] = ()
    ) -> None:
        names = [class_name(name) for name in new]
        if not force_name:
            others = [name for name in {*self, *self.groups} if name not in (*old_names, *names)]
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
                new[name] = ordered_keys(keys, name, problems)
        return new

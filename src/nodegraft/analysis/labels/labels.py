"""Who teaches what in a store, and who is held out to check it: a value, and its changes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from nodegraft.base.errors import ClassNameError, StoreError, UnknownNodeError
from nodegraft.base.files.bundle import Arrays, Document, prefixed, under
from nodegraft.graph.class_names import class_name, refuse_likely_duplicates
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import Key, hash_order, key_array, several
from nodegraft.graph.labels import FindsRows, NodeLabels

HELD_OUT, FEWEST = 0.2, 10
"""This share of a class's labels does not teach but checks, from so many labels up."""

Keys = tuple[Key, ...]


@dataclass(frozen=True)
class ClassLabels:
    """The labels of one class, in the order of their keys' hashes."""

    session: int
    """The session that brought the class; 0 for the first ones."""

    taught: Keys
    """Nodes that teach it."""

    held_out: Keys = ()
    """Nodes that check it."""

    @property
    def all(self) -> Keys:
        """Both."""
        return self.taught + self.held_out

    def with_more(self, keys: Iterable[Key]) -> "ClassLabels":
        """With more labels. Of the new ones as many are held out as there ought to be; the old
        ones go on teaching or checking.

        Args:
            keys: Of nodes that have no label yet.
        """
        new = _in_order(keys)
        total = len(self.all) + len(new)
        wanted = int(HELD_OUT * total) if total >= FEWEST else 0
        checking = max(0, wanted - len(self.held_out))
        return replace(
            self,
            taught=_in_order(self.taught + new[checking:]),
            held_out=_in_order(self.held_out + new[:checking]),
        )

    def without(self, keys: frozenset[Key]) -> "ClassLabels":
        """With fewer labels.

        Args:
            keys: Those that go.
        """
        taught = tuple(key for key in self.taught if key not in keys)
        held_out = tuple(key for key in self.held_out if key not in keys)
        return replace(self, taught=taught, held_out=held_out)

    def part(self, keys: Iterable[Key]) -> "ClassLabels":
        """Return a part of a class that is split: its labels teach or check as before.

        Args:
            keys: Nodes of the part; those without a label yet are drawn as in :meth:`with_more`.
        """
        some = frozenset(keys)
        old = self.without(frozenset(self.all) - some)
        part = old.with_more(some.difference(old.all))
        # All of them are held out: one that teaches must be among them.
        return part if part.taught else ClassLabels(self.session, ()).with_more(some)


class StoreLabels(Mapping[str, ClassLabels]):
    """Class name -> its labels. Immutable: every change gives another one, or an error.

    >>> labels = StoreLabels().added({"hats": ["a", "b"], "shoes": ["c"]})
    >>> labels.renamed("hats", "caps").merged(["caps", "shoes"], "wear").taught
    {'wear': ('c', 'a', 'b')}

    Args:
        classes: Class name -> its labels.
    """

    def __init__(self, classes: Mapping[str, ClassLabels] | None = None) -> None:
        self._classes = dict(classes or {})

    def __getitem__(self, name: str) -> ClassLabels:
        if name not in self._classes:
            known = ", ".join(sorted(self._classes)[:8])
            raise ClassNameError(f"The store has no class {name!r}. It has {known}.")
        return self._classes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, StoreLabels) and self._classes == other._classes
        return same and list(self) == list(other)  # type: ignore[call-overload]

    def __hash__(self) -> int:
        return hash(tuple(self._classes.items()))

    @property
    def taught(self) -> dict[str, Keys]:
        """Class name -> nodes that teach it."""
        return {name: one.taught for name, one in self.items()}

    def taught_rows(self, graph: FindsRows) -> NodeLabels:
        """Return the nodes that teach, by row: class names are not checked again.

        Args:
            graph: Has all these nodes.
        """
        return NodeLabels.by_key(graph, self.taught)

    @property
    def num_teaching(self) -> int:
        """How many nodes teach."""
        return sum(len(one.taught) for one in self.values())

    @property
    def held_out(self) -> dict[str, Keys]:
        """Class name -> nodes that check it; classes without are left out."""
        return {name: one.held_out for name, one in self.items() if one.held_out}

    @property
    def sessions(self) -> dict[str, int]:
        """Class name -> the session that brought it."""
        return {name: one.session for name, one in self.items()}

    def owners(self) -> dict[Key, str]:
        """The class of every labelled node."""
        return {key: name for name, one in self.items() for key in one.all}

    def added(
        self,
        classes: Mapping[str, Iterable[Key]],
        force_name: bool = False,
    ) -> "StoreLabels":
        """With new classes.

        Args:
            classes: New class -> keys of its nodes.
            force_name: Whether names may be such that differ only by case or blanks from others.
        """
        known = [name for name in classes if name in self]
        if known:
            raise ClassNameError(
                f"The store already has the class {known[0]!r}: add labels to it with `label`, or "
                "choose another name."
            )
        session = max(self.sessions.values(), default=-1) + 1
        new = {class_name(name): _listed(keys, name) for name, keys in classes.items()}
        if not new:
            raise ClassNameError("No class was given.")
        self._check_names(new, force_name)
        self._refuse_labelled(new)
        fresh = {name: ClassLabels(session, ()).with_more(keys) for name, keys in new.items()}
        return StoreLabels({**self, **fresh})

    def labelled(self, more: Mapping[str, Iterable[Key]]) -> "StoreLabels":
        """With more labels of known classes.

        Args:
            more: Known class -> keys of nodes that have no label yet.
        """
        new = {name: _listed(keys, name) for name, keys in more.items()}
        self._check_key_type(new)
        self._refuse_labelled(new)
        return StoreLabels({**self, **{name: self[name].with_more(new[name]) for name in new}})

    def unlabelled(self, keys: Iterable[Key]) -> "StoreLabels":
        """Without the labels of some nodes.

        Args:
            keys: Of labelled nodes.
        """
        gone = frozenset(_in_order(several(keys, "nodes")))
        strangers = sorted(gone - self.owners().keys(), key=str)
        if strangers:
            raise StoreError(
                f"Node {strangers[0]!r} has no label in this store: add one with `label`."
            )
        left = {name: one.without(gone) for name, one in self.items()}
        return StoreLabels(left)._each_taught()

    def relabelled(self, classes: Mapping[str, Iterable[Key]]) -> "StoreLabels":
        """With other classes for nodes that are labelled.

        Args:
            classes: Known class -> keys of nodes that are labelled as something else.
        """
        new = {name: _listed(keys, name) for name, keys in classes.items()}
        for name in new:
            self[name]
        moved = self.unlabelled([key for keys in new.values() for key in keys])
        return moved.labelled(new)

    def removed(self, names: Iterable[str]) -> "StoreLabels":
        """Without some classes.

        Args:
            names: The classes that go.
        """
        gone = several(names, "class names")
        for name in gone:
            self[name]
        left = {name: one for name, one in self.items() if name not in gone}
        if not left:
            raise StoreError("A store needs at least one class: this would remove the last one.")
        return StoreLabels(left)

    def renamed(self, old: str, new: str, force_name: bool = False) -> "StoreLabels":
        """With another name for a class.

        Args:
            old: The name it has.
            new: The name it gets.
            force_name: As in :meth:`added`.
        """
        self[old]
        if new in self:
            raise ClassNameError(
                f"The store already has the class {new!r}: use `merge` to merge both."
            )
        self._check_names([new], force_name, gone=[old])
        return StoreLabels({new if name == old else name: one for name, one in self.items()})

    def merged(self, names: Iterable[str], into: str, force_name: bool = False) -> "StoreLabels":
        """With several classes made one, which is as old as the oldest of them.

        Args:
            names: The classes that go.
            into: What they are from then on: one of them, or a new name.
            force_name: As in :meth:`added`.
        """
        parts = list(dict.fromkeys(several(names, "class names")))
        if len(parts) < 2:
            raise StoreError("Merging needs at least two classes.")
        if into in self and into not in parts:
            raise ClassNameError(
                f"The store already has the class {into!r}: list it among the classes to merge."
            )
        if into not in self:
            self._check_names([into], force_name, gone=parts)
        both = [self[name] for name in parts]
        one = ClassLabels(
            min(part.session for part in both),
            _in_order(key for part in both for key in part.taught),
            _in_order(key for part in both for key in part.held_out),
        )
        left = {name: kept for name, kept in self.items() if name not in parts}
        return StoreLabels({**left, into: one})

    def split(
        self,
        name: str,
        parts: Mapping[str, Iterable[Key]],
        force_name: bool = False,
    ) -> "StoreLabels":
        """With a class made several, which are as old as it was.

        Labels of the old class that are held out stay held out, and those that teach go on
        teaching. Only a part all of whose labels are held out is drawn like a new class, as
        something must teach it; what teaches then is not compared any more.

        Args:
            name: The class that goes.
            parts: New class -> keys of nodes, which may be labels of the old one. Its other labels
                go: nobody has said which part they are of.
            force_name: As in :meth:`added`.
        """
        old, left = self[name], {other: one for other, one in self.items() if other != name}
        if len(parts) < 2:
            raise StoreError("Splitting needs at least two new classes.")
        rest = StoreLabels(left)
        # A part may have the name of the whole.
        gone = [] if name in parts else [name]
        self._check_names([part for part in parts if part != name], force_name, gone)
        new = rest.added(parts, force_name=True)
        return StoreLabels({**left, **{part: old.part(new[part].all) for part in parts}})

    def state(self) -> tuple[Arrays, Document]:
        """As arrays and JSON."""
        taught, held_out = (
            KeyedLabels({name: key_array(keys) for name, keys in some.items()}).to_arrays()
            for some in (self.taught, {name: one.held_out for name, one in self.items()})
        )
        arrays = prefixed("taught.", taught) | prefixed("held_out.", held_out)
        return arrays, {"kind": "labels", "schema": 1, "sessions": list(self.sessions.items())}

    @classmethod
    def from_state(cls, arrays: Arrays, document: Document) -> "StoreLabels":
        """What :meth:`state` describes.

        Args:
            arrays: Its arrays.
            document: Its JSON.
        """
        if document.get("kind") != "labels" or document.get("schema") != 1:
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
            }
        )

    def _check_names(self, new: Iterable[str], force_name: bool, gone: Sequence[str] = ()) -> None:
        names = [class_name(name) for name in new]
        if not force_name:
            left = [name for name in self if name not in gone]
            refuse_likely_duplicates(names, left)

    def _check_key_type(self, new: Mapping[str, Keys]) -> None:
        """Refuse keys of another type than those of the labels: they can be in no such graph."""
        own = next((key for one in self.values() for key in one.all), None)
        keys = [key for keys in new.values() for key in keys]
        other = [key for key in keys if isinstance(key, str) != isinstance(own, str)]
        if own is not None and other:
            key_type = "text" if isinstance(own, str) else "integer"
            raise UnknownNodeError(other, len(keys), key_type)

    def _refuse_labelled(self, new: Mapping[str, Keys]) -> None:
        owners = self.owners()
        for name, keys in new.items():
            for key in keys:
                if key in owners:
                    other = "" if owners[key] == name else ", or use `relabel`"
                    raise StoreError(
                        f"Node {key!r} already has the label {owners[key]!r}. A node has one "
                        f"class: omit it{other}."
                    )
                owners[key] = name

    def _each_taught(self) -> "StoreLabels":
        empty = [name for name, one in self.items() if not one.taught]
        if empty:
            raise StoreError(
                f"Class {empty[0]!r} would have no label left to learn from: use `remove` to "
                "remove the class."
            )
        return self


def _in_order(keys: Iterable[Key]) -> Keys:
    listed = list(keys)
    if not listed:
        return ()
    array = key_array(listed)
    if array.ndim != 1:
        raise StoreError(f"Node keys are text or integers, not {listed[0]!r}.")
    return tuple(array[hash_order(array)].tolist())


def _listed(keys: Iterable[Key], name: str) -> Keys:
    listed = _in_order(several(keys, f"nodes of {name!r}"))
    if not listed:
        raise ClassNameError(f"Class {name!r} has no nodes.")
    twice = next((one for one, other in pairwise(sorted(listed)) if one == other), None)
    if twice is not None:
        raise StoreError(f"Node {twice!r} is listed twice for {name!r}.")
    return listed

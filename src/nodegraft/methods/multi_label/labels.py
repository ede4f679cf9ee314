"""Labels of nodes that may have any number of classes, and their changes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from nodegraft.base.counting import listed
from nodegraft.base.errors import ClassNameError, StoreError
from nodegraft.base.files.bundle import Arrays, Document
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import Key, KeyArray, hash_order, key_array, several
from nodegraft.graph.labels import class_name, refuse_likely_duplicates

KIND = "label sets"
"""Kind of object in which a store saves these labels."""


class LabelSets(Mapping[str, KeyArray]):
    """Class name -> keys of its nodes, in the order of their hashes.

    Immutable: every change returns new labels or raises an error.

    >>> labels = LabelSets().added({"hats": ["a", "b"], "red": ["b"]})
    >>> labels.unlabelled({"hats": ["b"]}).owners
    {'a': ('hats',), 'b': ('red',)}

    Args:
        classes: Class name -> keys, in the order of their hashes.
    """

    def __init__(self, classes: Mapping[str, KeyArray] | None = None) -> None:
        self.keyed = KeyedLabels(classes or {})

    def __getitem__(self, name: str) -> KeyArray:
        if name not in self.keyed:
            known = ", ".join(sorted(self.keyed)[:8])
            raise ClassNameError(f"There is no class {name!r}. The classes are {known}.")
        return self.keyed[name]

    def __contains__(self, name: object) -> bool:
        return name in self.keyed

    def __iter__(self) -> Iterator[str]:
        return iter(self.keyed)

    def __len__(self) -> int:
        return len(self.keyed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelSets) and self.keyed == other.keyed

    def __hash__(self) -> int:
        return hash(self.keyed)

    @property
    def names(self) -> frozenset[str]:
        """Names of all classes."""
        return frozenset(self)

    @property
    def num_labels(self) -> int:
        """Number of labels: a node counts once for each of its classes."""
        return self.keyed.num_nodes

    @cached_property
    def owners(self) -> dict[Key, tuple[str, ...]]:
        """Classes of every labelled node."""
        owners: dict[Key, tuple[str, ...]] = {}
        for name, keys in self.items():
            for key in keys.tolist():
                owners[key] = (*owners.get(key, ()), name)
        return owners

    def added(self, classes: Mapping[str, Iterable[Key]], force_name: bool = False) -> "LabelSets":
        """Return labels with new classes.

        Args:
            classes: New class -> keys of its nodes.
            force_name: Whether to allow names that differ from others only by case or blanks.
        """
        new = _checked(classes)
        if known := [name for name in new if name in self]:
            raise ClassNameError(
                f"The class {listed(map(repr, known))} exists already: add labels to it, or choose "
                "another name."
            )
        if not force_name:
            refuse_likely_duplicates(new, self)
        return LabelSets({**self, **new})

    def labelled(self, more: Mapping[str, Iterable[Key]]) -> "LabelSets":
        """Return labels with more nodes of known classes.

        Args:
            more: Known class -> keys of nodes that are not labels of it.
        """
        classes = dict(self)
        for name, keys in _checked(more).items():
            if again := set(keys.tolist()).intersection(self[name].tolist()):
                examples = listed(map(repr, sorted(again)))
                raise ClassNameError(f"Nodes {examples} are labels of {name!r} already.")
            classes[name] = _in_hash_order(np.concatenate((self[name], keys)))
        return LabelSets(classes)

    def unlabelled(self, labels: Mapping[str, Iterable[Key]]) -> "LabelSets":
        """Return labels without some nodes of some classes; other classes of these nodes stay.

        Args:
            labels: Known class -> keys of its labels to remove. A class must keep a label.
        """
        classes = dict(self)
        for name, keys in labels.items():
            own, removed = self[name], key_array(several(keys, f"nodes of class {name!r}"))
            _refuse_repeated(f"Class {name!r} lists a node", removed.tolist())
            known = set(own.tolist())
            if missing := [key for key in removed.tolist() if key not in known]:
                raise ClassNameError(
                    f"Nodes {listed(map(repr, missing))} are no labels of {name!r}."
                )
            classes[name] = own[~np.isin(own, removed)]
            if not classes[name].size:
                raise ClassNameError(f"{name!r} would have no labels: remove the class instead.")
        return LabelSets(classes)

    def removed(self, names: Iterable[str]) -> "LabelSets":
        """Return labels without the given classes; at least one class must stay.

        Args:
            names: Names of the classes to remove.
        """
        removed = several(names, "class names")
        _refuse_repeated("A class is given", removed)
        for name in removed:
            _ = self[name]
        rest = {name: keys for name, keys in self.items() if name not in removed}
        if not rest:
            raise ClassNameError("At least one class must stay: this would remove the last one.")
        return LabelSets(rest)

    def renamed(self, old: str, new: str, force_name: bool = False) -> "LabelSets":
        """Return labels in which a class is renamed.

        Args:
            old: Current name.
            new: New name.
            force_name: See :meth:`added`.
        """
        _ = self[old]
        if new in self:
            raise ClassNameError(f"The class {new!r} exists already: choose another name.")
        if not force_name:
            refuse_likely_duplicates([class_name(new)], [name for name in self if name != old])
        return LabelSets({class_name(new) if name == old else name: self[name] for name in self})

    def state(self) -> tuple[Arrays, Document]:
        """Return the labels as arrays and JSON, as a store saves them."""
        return self.keyed.to_arrays(), {"kind": KIND, "schema": 1, "classes": list(self)}

    @classmethod
    def from_state(cls, arrays: Arrays, document: Document) -> "LabelSets":
        """Restore labels from the arrays and JSON that :meth:`state` returned.

        Args:
            arrays: Arrays from :meth:`state`.
            document: JSON from :meth:`state`.
        """
        if (document.get("kind"), document.get("schema")) != (KIND, 1):
            raise StoreError(
                "This object of the store does not contain labels that this nodegraft can read."
            )
        return cls(KeyedLabels.from_arrays(document["classes"], arrays))


def _checked(classes: Mapping[str, Iterable[Key]]) -> dict[str, KeyArray]:
    """Return the keys of each class in the order of their hashes; refuse unusable labels."""
    found: dict[str, KeyArray] = {}
    for name, members in classes.items():
        keys = key_array(several(members, f"nodes of class {class_name(name)!r}"))
        if not keys.size:
            raise ClassNameError(f"Class {name!r} has no nodes.")
        _refuse_repeated(f"Class {name!r} lists a node", keys.tolist())
        found[name] = _in_hash_order(keys)
    if not found:
        raise ClassNameError("No class given.")
    return found


def _refuse_repeated(what: str, values: Iterable[Key]) -> None:
    if again := [value for value, count in Counter(values).items() if count > 1]:
        raise ClassNameError(f"{what} twice: {listed(map(repr, again))}. List it once.")


def _in_hash_order(keys: KeyArray) -> KeyArray:
    ordered: KeyArray = keys[hash_order(keys)]
    return ordered

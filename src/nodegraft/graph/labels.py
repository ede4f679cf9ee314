"""Labels by row numbers of nodes, and rules for class names."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ClassNameError, SimilarNameError
from nodegraft.base.hashing import content_hash
from nodegraft.base.problems import Problems
from nodegraft.graph.edges.matrix import IntArray, row_numbers
from nodegraft.graph.keys import Key, KeyArray, hash_order, key_array, several

if TYPE_CHECKING:
    from nodegraft.graph.view import GraphView

MOST_CHARACTERS = 200
"""Maximum number of characters of a class name."""


def class_name(name: Any) -> str:
    """Validate a class name: return it unchanged, or raise ClassNameError.

    Numbers are not converted to text, because 1 and "1" would become the same class.

    >>> class_name("e-bikes")
    'e-bikes'

    Raises:
        ClassNameError: If the name is no text, is empty, begins or ends with a blank, is too long,
            or has control or invisible characters.
    """
    if not isinstance(name, str) or not name.strip():
        hint = f": write {str(name)!r}" if isinstance(name, int | np.integer) else ""
        raise ClassNameError(f"A class name is text that is not empty, not {name!r}{hint}.")
    text = str(name)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ClassNameError(f"{name!r} cannot be written down: {error}.") from error
    if len(text) > MOST_CHARACTERS:
        raise ClassNameError(
            f"A class name has at most {MOST_CHARACTERS} characters; {text[:20]!r}… has "
            f"{len(text):,}."
        )
    if has_control_characters(text):
        raise ClassNameError(
            f"The class name {text!r} has a control or invisible character: leave it out."
        )
    if text != text.strip():
        raise ClassNameError(
            f"The class name {text!r} begins or ends with a blank: write {text.strip()!r}."
        )
    return text


def has_control_characters(text: str) -> bool:
    r"""Return whether a text has control characters (NUL, line breaks) or invisible ones.

    Two names that differ only by invisible characters (zero-width, text direction) would look
    equal.

    >>> has_control_characters("e-bikes"), has_control_characters("e\u200bbikes")
    (False, True)
    """
    return any(unicodedata.category(letter) in ("Cc", "Cf") for letter in text)


def compared_name(name: str) -> str:
    """Return a class name without case, blanks and Unicode variants.

    Names with equal results probably mean the same class.

    >>> compared_name("E-Bikes  large") == compared_name("e-bikes large")
    True
    """
    return "".join(_words(name))


def _words(name: str) -> list[str]:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).split()


def likely_duplicates(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return groups of class names that differ only by case, blanks or Unicode normalisation form.

    >>> likely_duplicates(["hats", "shoes", "Hats"])
    [('hats', 'Hats')]
    """
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(compared_name(name), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def refuse_likely_duplicates(new: Iterable[str], known: Iterable[str]) -> None:
    """Raise SimilarNameError if a new class name is probably a variant of another name."""
    added = list(new)
    for group in likely_duplicates([*known, *added]):
        if not set(added).isdisjoint(group):
            *others, name = group
            raise SimilarNameError(name, others[0])


def differ_by_one_letter(name: str, other: str) -> bool:
    """Return whether two class names differ by one typing error in a word of four letters or more.

    One letter is replaced, added or omitted, or two neighbours are swapped. Other characters count
    as intended: codes and numbers such as "cs.AI" and "cs.AR" are different names.

    >>> differ_by_one_letter("knive", "Knife"), differ_by_one_letter("cs.AI", "cs.AR")
    (True, False)
    """
    words, others = (re.split(r"([\W\d_]+)", " ".join(_words(text))) for text in (name, other))
    pairs = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    if len(words) != len(others) or len(pairs) != 1 or not "".join(pairs[0]).isalpha():
        return False
    start = next(place for place, two in enumerate(zip_longest(*pairs[0])) if len(set(two)) > 1)
    end, other_end = (word[start:] for word in pairs[0])
    return max(map(len, pairs[0])) > 3 and (
        end[1:] in (other_end, other_end[1:])
        or end == other_end[1:]
        or (end[:2] == other_end[1::-1] and end[2:] == other_end[2:])
    )


def similar_names(new: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    """Return each new name that differs from another name by one letter, and the first such name.

    Two new names that are similar to each other are returned once.

    Only names are compared that are equal after at most one letter of each is omitted, because
    there may be thousands.

    >>> similar_names(["knive"], ["hats", "knife", "knive"])
    {'knive': 'knife'}
    """
    by_part: dict[str, list[str]] = {}
    for name in names:
        for part in _one_letter_less(name):
            by_part.setdefault(part, []).append(name)
    similar: dict[str, str] = {}
    for name in sorted(new):
        others = {other for part in _one_letter_less(name) for other in by_part.get(part, ())}
        close = [other for other in others if differ_by_one_letter(name, other)]
        # Two new names are one pair, not two.
        if close := [other for other in close if similar.get(other) != name]:
            similar[name] = min(close)
    return similar


def _one_letter_less(name: str) -> set[str]:
    text = compared_name(name)
    places = (place for place, letter in enumerate(text) if letter.isalpha())
    return {text, *(text[:place] + text[place + 1 :] for place in places)}


class NodeLabels(Mapping[str, NDArray[np.int64]]):
    """Mapping from class name to the rows of its nodes. A node has only one class.

    >>> labels = NodeLabels({"hats": [3, 1], "shoes": [2]})
    >>> labels.classes, labels.rows().tolist(), labels.targets(["shoes", "hats"]).tolist()
    (('hats', 'shoes'), [3, 1, 2], [1, 1, 0])

    Args:
        rows: Mapping from class name to the rows of its nodes in the graph.
    """

    def __init__(self, rows: Mapping[str, IntArray | Sequence[int]]) -> None:
        self._rows = {
            class_name(name): row_numbers(members).copy() for name, members in rows.items()
        }
        every = self.rows()
        values, counts = np.unique(every, return_counts=True)
        if values.size < every.size:
            row = int(values[counts > 1][0])
            owners = [name for name, members in self.items() if row in members]
            raise ClassNameError(
                f"{every.size - values.size} nodes are listed more than once, "
                f"row {row} under {' and '.join(map(repr, owners))}: a node has one class."
            )

    @classmethod
    def by_key(cls, graph: "GraphView", keys: Mapping[str, Iterable[Key]]) -> "NodeLabels":
        """Create labels from node keys.

        The nodes of each class are sorted by the hashes of their keys, so that later random draws
        do not depend on the order of the keys.

        Args:
            graph: Graph or view in which the keys are looked up.
            keys: Mapping from class name to keys of its nodes, all text or all integers.
        """
        rows, owner, problems = {}, dict[Any, str](), Problems()
        for name, members in keys.items():
            with problems.collect():
                what = f"nodes of class {name!r}"
                listed: Sequence[Key] | KeyArray = (
                    members if isinstance(members, np.ndarray) else several(members, what)
                )
                numbers = graph.targets_of(listed)  # Raises an error for missing keys.
                array = key_array(listed)
                for key in array.tolist():
                    if key in owner:
                        where, hint = f"{name!r} twice", ""
                        if owner[key] != name:
                            where = f"{owner[key]!r} and {name!r}"
                            hint = " See several_labels=True of Store.init, and MultiLabel."
                        raise ClassNameError(
                            f"Node {key!r} is listed under {where}: a node has one class.{hint}"
                        )
                    owner[key] = name
                rows[name] = numbers[hash_order(array)]
        problems.raise_all()
        return cls(rows)

    @classmethod
    def from_names(cls, names: Iterable[str | None]) -> "NodeLabels":
        """Create labels from a class name for each row; classes are sorted by name.

        Args:
            names: Class name of each row; None for rows without a label.
        """
        listed = list(names)
        rows = np.array([row for row, name in enumerate(listed) if name is not None], dtype=int)
        table = np.array([class_name(name) for name in listed if name is not None], dtype=object)
        classes, column = np.unique(table, return_inverse=True)
        order = np.argsort(column, kind="stable")
        ends = pairwise(np.searchsorted(column[order], np.arange(classes.size + 1)))
        return cls({name: rows[order[a:b]] for name, (a, b) in zip(classes, ends, strict=True)})

    @classmethod
    def from_numbers(cls, numbers: IntArray) -> "NodeLabels":
        """Create labels from a class number for each row; class names are like ``class-07``.

        Numbers in names are padded with zeros, so that names sort like numbers.

        >>> NodeLabels.from_numbers(np.array([11, 7, 11])).classes
        ('class-07', 'class-11')

        Args:
            numbers: Class number of each row.
        """
        values, sizes = np.unique(numbers, return_counts=True)
        width = max(2, len(str(values.max())))
        names = [f"class-{value:0{width}d}" for value in values.tolist()]
        members = np.split(np.argsort(numbers, kind="stable"), np.cumsum(sizes)[:-1])
        return cls(dict(zip(names, members, strict=True)))

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of all classes, in order."""
        return tuple(self._rows)

    @property
    def num_nodes(self) -> int:
        """Number of labelled nodes."""
        return sum(members.size for members in self.values())

    def counts(self) -> dict[str, int]:
        """Return a mapping from class name to the number of its nodes."""
        return {name: int(members.size) for name, members in self.items()}

    def rows(self) -> NDArray[np.int64]:
        """Return the rows of all classes, class after class."""
        if not self._rows:
            return np.zeros(0, dtype=np.int64)
        return np.concatenate(list(self.values()))

    def targets(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """Return the class of each row of :meth:`rows` as a position in ``columns``.

        Args:
            columns: Class names, which must include all classes of these labels.
        """
        position = {name: column for column, name in enumerate(columns)}
        sizes = [members.size for members in self.values()]
        return np.repeat(np.array([position[name] for name in self], dtype=np.int64), sizes)

    def to_lists(self) -> dict[str, list[int]]:
        """Return the labels as JSON; the constructor accepts it as input."""
        return {name: members.tolist() for name, members in self.items()}

    def select(self, classes: Iterable[str]) -> "NodeLabels":
        """Return the labels of the given classes only.

        Args:
            classes: Names of existing classes, in the order of the result.
        """
        return NodeLabels({name: self._rows[name] for name in classes})

    def __or__(self, other: "NodeLabels") -> "NodeLabels":
        """Return the union with other labels; a class in both gets the rows of both."""
        merged = dict(self._rows)
        for name, members in other.items():
            merged[name] = np.concatenate((merged[name], members)) if name in merged else members
        return NodeLabels(merged)

    @property
    def content_hash(self) -> str:
        """Hash of class names and row numbers, including their order."""
        return content_hash(list(self.classes), *self.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeLabels) and self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __repr__(self) -> str:
        return f"NodeLabels({len(self)} classes, {self.num_nodes:,} nodes)"

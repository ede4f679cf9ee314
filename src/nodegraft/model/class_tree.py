"""Tree of classes: the parent of each class, as an immutable value."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from nodegraft.base.errors import ClassNameError
from nodegraft.graph.labels import class_name


class ClassTree(Mapping[str, str]):
    """Class -> its parent; classes without a parent are omitted. Every change returns a new tree.

    A parent is a class with labels, or a *group*: a name that has no labels of its own.

    >>> tree = ClassTree({"boots": "shoes", "sandals": "shoes", "shoes": "wear"})
    >>> tree.path("boots"), tree.depth("boots"), tree.without(["shoes"])["boots"]
    (('boots', 'shoes', 'wear'), 2, 'wear')

    Args:
        parents: Class -> its parent.

    Raises:
        ClassNameError: If a class would be its own ancestor, or a name is not valid.
    """

    def __init__(self, parents: Mapping[str, str] | None = None) -> None:
        self._parents = {class_name(child): class_name(up) for child, up in (parents or {}).items()}
        self._refuse_cycles()

    def __getitem__(self, name: str) -> str:
        return self._parents[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parents)

    def __len__(self) -> int:
        return len(self._parents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassTree) and self._parents == other._parents

    def __hash__(self) -> int:
        return hash(frozenset(self._parents.items()))

    def __repr__(self) -> str:
        return f"ClassTree({self._parents!r})"

    @property
    def names(self) -> frozenset[str]:
        """All classes that have a parent or a child."""
        return frozenset(self._parents) | frozenset(self._parents.values())

    def groups(self, labelled: Collection[str]) -> list[str]:
        """Return the sorted names of the tree that have no labels of their own."""
        return sorted(self.names.difference(labelled))

    def path(self, name: str) -> tuple[str, ...]:
        """Return a class and its ancestors, the class first."""
        classes = [name]
        while (parent := self._parents.get(classes[-1])) is not None:
            classes.append(parent)
        return tuple(classes)

    def depth(self, name: str) -> int:
        """Return the number of ancestors of a class; 0 for a class without a parent."""
        return len(self.path(name)) - 1

    def common_ancestor(self, names: Iterable[str]) -> str | None:
        """Return the lowest proper ancestor of all given classes; None without one."""
        first, *others = (self.path(name)[1:] for name in names)
        return next((name for name in first if all(name in path for path in others)), None)

    def in_order(self, labelled: Iterable[str]) -> list[str]:
        """Return all classes in depth-first order: each parent is followed by its children.

        Siblings are in the order of the given classes; a group stands where its first class does.
        """
        children: dict[str | None, dict[str, None]] = {}
        for name in labelled:
            for child in self.path(name):
                children.setdefault(self._parents.get(child), {})[child] = None
        ordered, waiting = list[str](), list(children.get(None, {}))[::-1]
        while waiting:
            ordered.append(waiting.pop())
            waiting += list(children.get(ordered[-1], {}))[::-1]
        return ordered

    def moved(self, parents: Mapping[str, str | None]) -> "ClassTree":
        """Return a tree in which some classes have another parent.

        Args:
            parents: Class -> its new parent; None for no parent.
        """
        both = {**self._parents, **parents}
        return ClassTree({child: parent for child, parent in both.items() if parent is not None})

    def without(self, names: Collection[str]) -> "ClassTree":
        """Return a tree without some classes; their children move to the nearest class above."""
        return ClassTree(
            {
                child: above
                for child in self._parents
                if child not in names
                for above in [up for up in self.path(child)[1:] if up not in names][:1]
            }
        )

    def merged(self, names: Collection[str], into: str) -> "ClassTree":
        """Return a tree in which some classes are replaced by one class, which gets their children.

        Its parent is the lowest class that was above all of them; a class of the tree that is not
        replaced itself keeps its place. With a single class, this is a change of its name.

        Args:
            names: Classes to replace; the new class may be one of them.
        """
        parts = {*names, into}
        if into in self.names and into not in names:
            above = next((up for up in self.path(into)[1:] if up not in parts), None)
        else:
            above = self.common_ancestor(sorted(names))
        parents = {
            child: into if parent in parts else parent
            for child, parent in self._parents.items()
            if child not in parts
        }
        return ClassTree(parents if above is None else {**parents, into: above})

    def within(self, labelled: Iterable[str]) -> "ClassTree":
        """Return a tree without the groups that have no class with labels below them."""
        used = {name for leaf in labelled for name in self.path(leaf)}
        return ClassTree({child: up for child, up in self._parents.items() if child in used})

    def _refuse_cycles(self) -> None:
        settled = set[str]()
        for start in self._parents:
            path, name = dict[str, None](), start
            while name in self._parents and name not in settled:
                if name in path:
                    cycle = [*list(path)[list(path).index(name) :], name]
                    raise ClassNameError(
                        f"A class cannot be its own ancestor: {' → '.join(map(repr, cycle))}. "
                        "Choose another parent."
                    )
                path[name] = None
                name = self._parents[name]
            settled.update(path)


NO_TREE = ClassTree()
"""Tree of classes without parents."""

"""Labels and stores that are changed in any way, against plain dictionaries."""

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from numpy.typing import NDArray

from nodegraft.analysis.labels.changes import Change, replay
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import Version
from nodegraft.base.errors import NodegraftError, StoreError
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.objects.objects import Objects
from nodegraft.store.objects.states import States
from nodegraft.store.store import Store
from tests.property.strategies import thorough
from tests.slow_suite import examples
from tests.store.small import made

NAMES = ("a", "b", "c", "a 0", "ä", "b/c.d", " ")
"""The last one is no name."""

NODES = 60

LABELLED = 8
"""A node of the small store that has a label, of `class-00`."""

names = st.sampled_from(NAMES)
words = st.sampled_from(["hats", "shoes", "caps", "class-00"])
many = st.lists(st.integers(0, NODES - 1), min_size=1, max_size=14, unique=True)
mostly = st.sampled_from([True, True, True, False])


@dataclass(frozen=True)
class Plain:
    """What labels are, and nothing of how they are kept; None stands for a change that is refused.

    Who teaches and who checks is the business of the labels that are tested.
    """

    classes: dict[str, frozenset[Key]]
    sessions: dict[str, int]
    parents: dict[str, str]

    def done(self, change: Change, labels: StoreLabels) -> "Plain | None":
        method = getattr(self, change.action)
        result: Plain | None = method(labels, **change.detail)
        return result and result.pruned()

    def pruned(self) -> "Plain | None":
        """Without groups that have no class below them; None if a class is its own ancestor."""
        parents = self.parents
        while unused := parents.keys() - self.classes.keys() - set(parents.values()):
            parents = {child: up for child, up in parents.items() if child not in unused}
        left = dict(parents)
        while tops := left.keys() - left.values():
            left = {child: up for child, up in left.items() if child not in tops}
        return None if left else replace(self, parents=parents)

    def above(self, name: str) -> list[str]:
        """The ancestors of a class, the lowest first."""
        up = self.parents.get(name)
        return [] if up is None else [up, *self.above(up)]

    @property
    def groups(self) -> set[str]:
        return {*self.parents, *self.parents.values()} - self.classes.keys()

    def lifted(self, name: str) -> "Plain":
        """Without a class in the tree: its children are below what it was below."""
        up = self.parents.get(name)
        moved = {child: up if old == name else old for child, old in self.parents.items()}
        left = {child: new for child, new in moved.items() if child != name and new is not None}
        return replace(self, parents=left)

    def without(self, *gone: str) -> "Plain":
        left = [name for name in self.classes if name not in gone]
        return Plain(
            {name: self.classes[name] for name in left},
            {name: self.sessions[name] for name in left},
            self.parents,
        )

    def with_class(self, name: str, keys: Iterable[Key], session: int) -> "Plain":
        return replace(
            self,
            classes={**self.classes, name: frozenset(keys)},
            sessions={**self.sessions, name: session},
        )

    @property
    def owned(self) -> frozenset[Key]:
        return frozenset[Key]().union(*self.classes.values())

    def fits(self, new: dict[str, list[Key]]) -> bool:
        every = [key for keys in new.values() for key in keys]
        return all(new.values()) and len(set(every)) == len(every) and self.owned.isdisjoint(every)

    def add(
        self, _: StoreLabels, classes: dict[str, list[Key]], parent: str | None = None
    ) -> "Plain | None":
        known = [name for name in classes if name in self.classes or not name.strip()]
        if known or not classes or not self.fits(classes):
            return None
        plain, session = self, max(self.sessions.values(), default=-1) + 1
        for name, keys in classes.items():
            plain = plain.with_class(name, keys, session)
        return plain if parent is None else plain.move(_, dict.fromkeys(classes, parent))

    def move(self, _: StoreLabels, parents: dict[str, str | None]) -> "Plain | None":
        if not all(name is None or name.strip() for name in parents.values()):
            return None
        both: dict[str, str | None] = {**self.parents, **parents}
        moved = replace(self, parents={name: up for name, up in both.items() if up is not None})
        plain = moved.pruned()
        used = {*self.classes, *self.groups, *(plain.groups if plain else ())}
        return plain if parents.keys() <= used else None

    def label(self, _: StoreLabels, more: dict[str, list[Key]]) -> "Plain | None":
        if not more.keys() <= self.classes.keys() or not self.fits(more):
            return None
        grown = {name: self.classes[name].union(keys) for name, keys in more.items()}
        return replace(self, classes={**self.classes, **grown})

    def unlabel(self, labels: StoreLabels, keys: list[Key]) -> "Plain | None":
        if not self.owned.issuperset(keys) or any(
            set(one.training) <= set(keys) for one in labels.values()
        ):
            return None
        left = {name: owned.difference(keys) for name, owned in self.classes.items()}
        return replace(self, classes=left)

    def relabel(self, labels: StoreLabels, classes: dict[str, list[Key]]) -> "Plain | None":
        if not classes.keys() <= self.classes.keys() or not all(classes.values()):
            return None
        left = self.unlabel(labels, [key for keys in classes.values() for key in keys])
        return left and left.label(labels, classes)

    def remove(self, _: StoreLabels, names: list[str]) -> "Plain | None":
        if not set(names) <= self.classes.keys() | self.groups:
            return None
        if set(names) >= self.classes.keys():
            return None
        plain = self.without(*names)
        for name in names:
            plain = plain.lifted(name)
        return plain

    def rename(self, _: StoreLabels, old: str, new: str) -> "Plain | None":
        every = self.classes.keys() | self.groups
        if old not in every or new in every or not new.strip():
            return None
        called = {name: new if name == old else name for name in every}
        return Plain(
            {called[name]: keys for name, keys in self.classes.items()},
            {called[name]: session for name, session in self.sessions.items()},
            {called[child]: called[up] for child, up in self.parents.items()},
        )

    def merge(self, _: StoreLabels, names: list[str], into: str) -> "Plain | None":
        taken = into in self.classes and into not in names
        if len(names) < 2 or not set(names) <= self.classes.keys() or taken or not into.strip():
            return None
        both = frozenset[Key]().union(*(self.classes[name] for name in names))
        session = min(self.sessions[name] for name in names)
        parts = {*names, *({into} & self.groups)}
        common = set[str].intersection(*(set(self.above(name)) for name in parts))
        parents = {
            child: into if up in parts else up
            for child, up in self.parents.items()
            if child not in parts
        }
        if common:
            parents[into] = max(common, key=lambda name: len(self.above(name)))
        merged = self.without(*names).with_class(into, both, session)
        return replace(merged, parents=parents)

    def split(self, _: StoreLabels, name: str, parts: dict[str, list[Key]]) -> "Plain | None":
        if name not in self.classes or len(parts) < 2 or self.groups & parts.keys():
            return None
        new = self.without(name).add(_, parts)
        if new is None:
            return None
        if name not in parts:
            new = new.lifted(name)
        up = self.parents.get(name)
        below = {} if up is None else dict.fromkeys(parts, up)
        sessions = {**new.sessions, **dict.fromkeys(parts, self.sessions[name])}
        return replace(new, sessions=sessions, parents={**new.parents, **below})


NOTHING = Plain({}, {}, {})


def again(change: Change) -> Change:
    """As it comes back from a database."""
    return Change(change.action, json.loads(json.dumps(change.detail)))


def check_roles(before: StoreLabels, after: StoreLabels, change: Change) -> None:
    """Old labels go on teaching or checking; of new ones as many check as there ought to be."""
    detail = change.detail
    origins: dict[str, list[str]] = {}
    labelled: set[Key] = set()
    if change.action == "rename":
        origins = {detail["new"]: [detail["old"]]}
    elif change.action == "merge":
        origins = {detail["into"]: detail["names"]}
    elif change.action == "split":
        whole = before[detail["name"]]
        labelled = set(whole.all)
        # A part must be taught: where all of its nodes are held out, it is drawn like a new class.
        origins = {
            part: [] if whole.held_out and set(keys) <= set(whole.held_out) else [detail["name"]]
            for part, keys in detail["parts"].items()
        }
    given: dict[str, list[Key]] = next(
        (detail[name] for name in ("classes", "more", "parts") if name in detail), {}
    )
    for name, one in after.items():
        fresh = set(given.get(name, ()))
        if origins.get(name):
            fresh -= labelled
        old = [before[part] for part in origins.get(name, [name]) if part in before]
        checking = {key for part in old for key in part.held_out if key in one.all} - fresh
        total = len(one.all)
        wanted = total // 5 if total >= 10 else 0
        more = min(len(fresh), max(0, wanted - len(checking)))
        assert checking <= set(one.held_out)
        assert len(one.held_out) == len(checking) + more
        assert set(one.training).isdisjoint(one.held_out)
        assert one.training


class LabelsMachine(RuleBasedStateMachine):
    """Labels beside plain dictionaries, change by change."""

    def __init__(self) -> None:
        super().__init__()
        self.labels, self.plain = StoreLabels(), NOTHING
        self.past: list[tuple[StoreLabels, Plain, Change]] = []

    @initialize(text=st.booleans())
    def start(self, text: bool) -> None:
        self.text = text
        self.do("add", classes={"a": self.keys(range(12)), "b": self.keys(range(12, 15))})
        self.do("add", classes={"c": self.keys(range(20, 30))})

    def keys(self, numbers: Iterable[int], owned: bool | None = None) -> list[Key]:
        """Keys of nodes; those alone that have a label, or have none, where that is asked for."""
        keys: list[Key] = [f"n{number}" if self.text else number for number in numbers]
        return [key for key in keys if owned is None or (key in self.plain.owned) is owned]

    def do(self, action: str, **detail: Any) -> None:
        if not all(detail.values()):
            # Whether nothing is a change is a test of its own.
            return
        change = Change(action, detail)
        expected, before = self.plain.done(change, self.labels), self.labels
        if expected is None:
            with pytest.raises(NodegraftError):
                change.applied(before)
            return
        after = change.applied(before)
        check_roles(before, after, change)
        assert again(change).applied(before) == after
        self.past.append((before, self.plain, change))
        self.labels, self.plain = after, expected

    def classes(self, data: st.DataObject, least: int = 0, most: int = 2) -> list[str]:
        """Mostly classes that are known."""
        pool = list(self.plain.classes) if data.draw(mostly) else NAMES
        few = min(least, len(pool))
        return data.draw(st.lists(st.sampled_from(pool), min_size=few, max_size=most, unique=True))

    @rule(classes=st.dictionaries(names, many, max_size=3), free=mostly)
    def add(self, classes: dict[str, list[int]], free: bool) -> None:
        new = {
            name: self.keys(some, False if free else None)
            for name, some in classes.items()
            if not free or name not in self.plain.classes
        }
        self.do("add", classes=new)

    @rule(data=st.data(), some=st.lists(many, min_size=2, max_size=2), free=mostly)
    def label(self, data: st.DataObject, some: list[list[int]], free: bool) -> None:
        more = zip(self.classes(data), some, strict=False)
        self.do("label", more={name: self.keys(few, False if free else None) for name, few in more})

    @rule(some=many, owned=mostly)
    def unlabel(self, some: list[int], owned: bool) -> None:
        self.do("unlabel", keys=self.keys(some, owned or None))

    @rule(data=st.data(), some=st.lists(many, min_size=2, max_size=2), owned=mostly)
    def relabel(self, data: st.DataObject, some: list[list[int]], owned: bool) -> None:
        moved = zip(self.classes(data), some, strict=False)
        self.do(
            "relabel",
            classes={
                name: [key for key in self.keys(few, owned or None) if self.is_other(name, key)]
                for name, few in moved
            },
        )

    def is_other(self, name: str, key: Key) -> bool:
        return key not in self.plain.classes.get(name, ())

    @rule(data=st.data(), parent=names, some=many)
    def add_below(self, data: st.DataObject, parent: str, some: list[int]) -> None:
        new = {name: self.keys(some, False) for name in NAMES if name not in self.plain.classes}
        name = data.draw(st.sampled_from(sorted(new)))
        if new[name]:
            self.do("add", classes={name: new[name]}, parent=parent)

    @rule(parents=st.dictionaries(names, st.none() | names, max_size=3), known=mostly)
    def move(self, parents: dict[str, str | None], known: bool) -> None:
        every = {*self.plain.classes, *self.plain.groups}
        self.do(
            "move",
            parents={name: up for name, up in parents.items() if not known or name in every},
        )

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        self.do("remove", names=self.classes(data))

    @rule(data=st.data())
    def remove_a_group(self, data: st.DataObject) -> None:
        if self.plain.groups:
            self.do("remove", names=[data.draw(st.sampled_from(sorted(self.plain.groups)))])

    @rule(data=st.data(), new=names)
    def rename(self, data: st.DataObject, new: str) -> None:
        self.do("rename", old=self.classes(data, 1)[0], new=new)

    @rule(data=st.data(), new=names)
    def rename_a_group(self, data: st.DataObject, new: str) -> None:
        if self.plain.groups:
            self.do("rename", old=data.draw(st.sampled_from(sorted(self.plain.groups))), new=new)

    @rule(data=st.data(), new=names, is_new=mostly)
    def merge(self, data: st.DataObject, new: str, is_new: bool) -> None:
        parts = self.classes(data, 2, 3)
        self.do(
            "merge", names=parts, into=new if is_new and new not in self.plain.classes else parts[0]
        )

    @rule(data=st.data(), parts=st.lists(names, min_size=1, max_size=4, unique=True), new=mostly)
    def split(self, data: st.DataObject, parts: list[str], new: bool) -> None:
        name = self.classes(data, 1)[0]
        if new:
            parts = [part for part in parts if part == name or part not in self.plain.classes]
        # Every label of the class to one of the parts, or to none; and a node that has no label.
        nodes = [*sorted(self.plain.classes.get(name, ()), key=str), *self.keys([NODES - 1])]
        where = [data.draw(st.integers(0, len(parts))) for _ in nodes]
        taken = {
            part: [key for key, chosen in zip(nodes, where, strict=True) if chosen == place]
            for place, part in enumerate(parts)
        }
        self.do("split", name=name, parts=taken)

    @precondition(lambda self: len(self.past) > 1)
    @rule()
    def undo(self) -> None:
        self.labels, self.plain, _ = self.past.pop()

    @precondition(lambda self: len(self.past) > 2)
    @rule(data=st.data())
    def undo_an_older_one(self, data: st.DataObject) -> None:
        """What is left is done again, as it was written down."""
        gone = data.draw(st.integers(1, len(self.past) - 2))
        labels, plain, _ = self.past[gone]
        later = {place: again(self.past[place][2]) for place in range(gone + 1, len(self.past))}
        past = self.past[:gone]
        for change in later.values():
            expected = plain.done(change, labels)
            if expected is None:
                with pytest.raises(StoreError, match="cannot be undone by itself"):
                    replay(self.past[gone][0], later, gone, self.past[gone + 1][0])
                return
            past.append((labels, plain, change))
            labels, plain = change.applied(labels), expected
        assert replay(self.past[gone][0], later, gone, self.past[gone + 1][0]) == labels
        self.labels, self.plain, self.past = labels, plain, past

    @invariant()
    def labels_are_the_dictionaries(self) -> None:
        assert list(self.labels) == list(self.plain.classes)
        assert {name: frozenset(one.all) for name, one in self.labels.items()} == self.plain.classes
        assert self.labels.sessions == self.plain.sessions
        assert dict(self.labels.tree) == self.plain.parents

    @invariant()
    def a_node_has_one_class(self) -> None:
        every = [key for one in self.labels.values() for key in one.all]
        assert len(set(every)) == len(every)
        assert self.labels.owners().keys() == set(every)

    @invariant()
    def they_come_back(self) -> None:
        arrays, document = self.labels.state()
        back = StoreLabels.from_state(arrays, json.loads(json.dumps(document)))
        assert back == self.labels
        assert hash(back) == hash(self.labels)


def test_labels_are_plain_dictionaries_whatever_is_done() -> None:
    run_state_machine_as_test(LabelsMachine, settings=settings(thorough, stateful_step_count=20))


Small = tuple[Store, dict[str, list[Key]]]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Small]:
    store, new = made(tmp_path / "store")
    with store:
        yield store, new


class StoreMachine(RuleBasedStateMachine):
    """A real store; what it comes to is what its labels make it, however they came."""

    def __init__(self, template: Path) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        place = Path(self._folder.name) / "store"
        shutil.copytree(template, place)
        self.store = Store.open(place)

    @property
    def labels(self) -> StoreLabels:
        return self.store.state(self.store.newest).labels

    def do(self, action: str, **detail: Any) -> None:
        change, before = Change(action, detail), self.labels
        try:
            expected = change.applied(before)
            # Moving a class to where it is would change nothing, so the store refuses it.
            is_refused = expected == before
        except NodegraftError:
            is_refused = True
        if is_refused:
            newest = self.store.newest
            with pytest.raises(NodegraftError):
                self.store.change(change, intent=Intent(override="whatever it costs"))
            assert self.store.newest == newest
            return
        version = self.store.change(change, intent=Intent(override="whatever it costs"))
        assert self.store.history()[-1] == version
        assert self.labels == expected

    def free(self, some: list[int]) -> list[int]:
        owned = self.labels.owners()
        return [node for node in some if node not in owned]

    @rule(name=words, some=many)
    def add(self, name: str, some: list[int]) -> None:
        self.do("add", classes={name: self.free(some)})

    @rule(data=st.data(), some=many)
    def label(self, data: st.DataObject, some: list[int]) -> None:
        self.do("label", more={self.a_class(data): self.free(some)})

    @rule(data=st.data())
    def unlabel(self, data: st.DataObject) -> None:
        self.do("unlabel", keys=self.some_of(data, self.a_class(data)))

    @rule(data=st.data())
    def relabel(self, data: st.DataObject) -> None:
        source, target = self.a_class(data), self.a_class(data)
        if source != target:
            self.do("relabel", classes={target: self.some_of(data, source)})

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        self.do("remove", names=[self.a_class(data)])

    @rule(data=st.data(), new=words)
    def rename(self, data: st.DataObject, new: str) -> None:
        self.do("rename", old=self.a_class(data), new=new)

    @rule(data=st.data(), parent=st.none() | words)
    def move(self, data: st.DataObject, parent: str | None) -> None:
        self.do("move", parents={self.a_class(data): parent})

    @rule(data=st.data(), into=words)
    def merge(self, data: st.DataObject, into: str) -> None:
        parts = {self.a_class(data), self.a_class(data)}
        self.do("merge", names=sorted(parts), into=into)

    @rule(data=st.data(), one=words, other=words)
    def split(self, data: st.DataObject, one: str, other: str) -> None:
        name = self.a_class(data)
        part = self.some_of(data, name)
        rest = [key for key in self.labels[name].all if key not in part]
        self.do("split", name=name, parts={one: part, other: rest})

    @precondition(lambda self: self.store.newest > 1)
    @rule()
    def undo(self) -> None:
        newest, before = self.store.history()[-1], self.store.history()[-2]
        assert newest.parent == before.number
        assert objects_of(self.store.undo()) == objects_of(before)

    @precondition(lambda self: self.store.newest > 2)
    @rule(data=st.data())
    def undo_an_older_one(self, data: st.DataObject) -> None:
        history = self.store.history()
        gone = data.draw(st.integers(2, len(history) - 1))
        # Undoing the newest version takes it and its undo out of what is applied again.
        chains: dict[int, list[int]] = {1: [1]}
        for one in history[1:]:
            undone = one.detail["version"] if one.action == "undo" else None
            back = undone == one.number - 1
            chains[one.number] = [*chains[one.number - 1], one.number]
            if back:
                chains[one.number] = chains[one.number - 2]
        chain = chains[len(history)]
        applied = [history[number - 1] for number in chain if number > gone]
        later = {one.number: Change(one.action, one.detail) for one in applied}
        try:
            assert gone in chain
            assert "undo" not in {one.action for one in (history[gone - 1], *applied)}
            expected = replay(
                self.store.state(gone - 1).labels, later, gone, self.store.state(gone).labels
            )
        except (AssertionError, NodegraftError):
            with pytest.raises(StoreError, match="cannot be undone by itself"):
                self.store.undo(gone)
            assert self.store.newest == len(history)
            return
        self.store.undo(gone)
        assert self.labels == expected

    def a_class(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(list(self.labels)))

    def some_of(self, data: st.DataObject, name: str) -> list[Key]:
        own = st.sampled_from(self.labels[name].all)
        return data.draw(st.lists(own, min_size=1, max_size=8, unique=True))

    def teardown(self) -> None:
        try:
            self.check_taught_directly()
        finally:
            self.store.close()
            self._folder.cleanup()

    def check_taught_directly(self) -> None:
        """As if the first version had been given the last labels: byte for byte, bit for bit."""
        first, last = self.store.state(1), self.store.state(self.store.newest)
        direct = first.relabelled(last.labels)
        place = Path(self._folder.name)
        states = States(place, Objects(place / "objects"))
        direct = replace(direct, graph=states.put_graph(direct.graph))
        kept = states.put(direct, None)
        assert (kept.graph, kept.labels, kept.model) == objects_of(self.store.history()[-1])
        # Neither the order of classes nor when they came is heard in an answer.
        classes = {name: last.labels[name] for name in sorted(last.labels)}
        in_order = StoreLabels(classes, last.labels.tree)
        found, wanted = scores(last), scores(first.relabelled(in_order))
        for name in in_order:
            np.testing.assert_array_equal(found[name], wanted[name])


def objects_of(version: Version) -> tuple[str, str, str]:
    return version.graph, version.labels, version.model


def scores(state: State) -> dict[str, NDArray[np.float64]]:
    table = state.model.score_rows(state.graph, state.graph.rows)
    return dict(zip(state.model.classes_, table.T, strict=True))


def test_a_store_is_what_its_labels_make_it(tmp_path: Path) -> None:
    made(tmp_path / "template", method="graft")[0].close()
    run_state_machine_as_test(
        partial(StoreMachine, tmp_path / "template"),  # type: ignore[arg-type]
        settings=settings(thorough, max_examples=examples(100, 10), stateful_step_count=8),
    )


def test_a_class_that_is_merged_twice_is_merged_once() -> None:
    labels = StoreLabels().added({"a": [1], "b": [2]})
    assert sorted(labels.merged(["a", "a", "b"], "c")["c"].all) == [1, 2]


def test_keys_of_numpy_are_keys(small: Small) -> None:
    store, new = small
    name, nodes = next(iter(new.items()))
    store.add({name: np.array(nodes)})
    store.unlabel(np.array(nodes[:1]))
    assert set(store.state(3).labels[name].all) == set(nodes[1:])


@pytest.mark.parametrize(
    ("action", "detail"),
    [
        ("label", {"more": {}}),
        ("unlabel", {"keys": []}),
        ("relabel", {"classes": {}}),
        ("relabel", {"classes": {"class-00": [LABELLED]}}),
        ("remove", {"names": []}),
    ],
)
def test_nothing_is_no_change(action: str, detail: dict[str, Any], small: Small) -> None:
    with pytest.raises(NodegraftError):
        small[0].change(Change(action, detail))


@pytest.mark.parametrize(
    "key",
    [
        float(LABELLED),
        True,
        [LABELLED],
        None,
    ],
)
def test_what_is_no_key_is_told(key: Any, small: Small) -> None:
    with pytest.raises(NodegraftError):
        small[0].unlabel([key])
    with pytest.raises(NodegraftError):
        small[0].add({"hats": [key]})


@pytest.mark.parametrize(
    "text",
    [
        "\x00",
        "\ud800",
    ],
)
def test_odd_text_is_kept_or_told(text: str, small: Small) -> None:
    store, new = small
    name, nodes = next(iter(new.items()))
    for classes, note in (({text: nodes}, ""), ({name: nodes}, text)):
        try:
            version = store.add(classes, intent=Intent(note=note))
        except NodegraftError:
            continue
        assert store.history()[-1] == version
        assert set(classes) <= set(store.state(version.number).labels)
        store.undo()


@pytest.mark.parametrize(
    "name",
    [
        "wh?t",
        "a%41",
        "a::b",
        "a#b",
        "a b",
        "ä",
        "s3://b",
    ],
)
def test_a_store_is_in_its_folder_whatever_that_is_called(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made(Path(name))[0].close()
    with Store.open(tmp_path / name) as store:
        store.predict()
    found = {path.name for path in (tmp_path / name).iterdir()}
    assert {"objects", "store.db", "store.json"} <= found
    assert {path.name for path in tmp_path.iterdir()} == {Path(name).parts[0]}


def test_a_store_is_in_the_folder_of_its_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    made(Path("~/store"))[0].close()
    with Store.open("~/store") as store:
        store.predict()


def test_a_class_may_be_called_as_another_and_a_number(tmp_path: Path) -> None:
    store, new = made(tmp_path / "store", method="graft", parameters={"practise": False})
    first, second = new.values()
    with store:
        store.add({"hats 0": first})
        store.add({"hats": second})
        assert store.newest == 3

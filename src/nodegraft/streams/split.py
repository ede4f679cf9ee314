"""Class splits: the role of each class, and its training, held-out and query nodes."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.base.hashing import content_hash
from nodegraft.base.seeds import Seeds
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.setting import Setting

TRAIN, HELD_OUT = 0.6, 0.2

Groups: TypeAlias = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class ClassSplit:
    """Roles of classes and nodes; equal labels, settings and seeds give equal splits and hashes.

    The nodes of known classes (base and pseudo-novel) are split into training, held-out and test
    nodes (60/20/20 %), and the nodes of validation and novel classes into support and query nodes.
    """

    seed: int
    """Seed for the roles and the order of classes."""

    node_seed: int
    """Seed for the choice of training nodes; equal to ``seed`` by default."""

    setting: Setting
    """Number of classes of each role."""

    base: tuple[str, ...]
    """Known classes on which encoders are pre-trained."""

    pseudo_novel: tuple[str, ...]
    """Known classes with which methods practise adding classes."""

    validation: tuple[str, ...]
    """Classes for choosing hyper-parameters; they are not in the test stream."""

    novel: tuple[str, ...]
    """Classes that arrive in the test stream, in the order of arrival."""

    members: NodeLabels
    """All nodes of every class; used only to compute which nodes are visible."""

    train: NodeLabels
    """Training nodes of known classes."""

    held_out: NodeLabels
    """Held-out nodes of known classes, for early stopping."""

    test: NodeLabels
    """Test nodes of known classes, which are queried in sessions."""

    support: NodeLabels
    """Support (training) nodes of each validation and novel class."""

    query: NodeLabels
    """Query nodes of each validation and novel class: all nodes that are not in ``support``, except
    nodes that share a group with training nodes."""

    @classmethod
    def draw(
        cls,
        labels: NodeLabels,
        setting: Setting,
        seed: int,
        groups: Groups | None = None,
        many_shot: bool = False,
        node_seed: int | None = None,
    ) -> "ClassSplit":
        """Draw a random split.

        The nodes of each class are shuffled with a generator seeded by the class name, so that they
        do not depend on other classes. Validation classes do not depend on the seed, so that
        hyper-parameters chosen with one seed were not chosen on novel classes of another seed.

        Args:
            labels: Nodes of every class.
            setting: Number of classes of each role.
            seed: Seed for the roles of classes.
            groups: Group number of every row (of near-duplicates, for example). No group has nodes
                both in training (train, support) and in evaluation; nodes excluded for this reason
                are not used. None for no groups.
            many_shot: Whether new classes have 60 % of their nodes for training instead of a few,
                as an upper reference.
            node_seed: Seed for the choice of training nodes; None for ``seed``.
        """
        if len(labels) < setting.classes:
            raise DataError(f"{setting} needs {setting.classes} classes, there are {len(labels)}.")
        seeds = Seeds(seed if node_seed is None else node_seed)
        base, pseudo_novel, validation, novel = _roles(labels.counts(), setting, seed)
        known, few = base + pseudo_novel, validation + novel
        shuffled = {
            name: seeds.generator("nodes", name).permutation(np.sort(labels[name]))
            for name in (*known, *few)
        }
        parts = {
            name: _fractions(rows) if groups is None else _by_group(rows, groups, seeds)
            for name, rows in shuffled.items()
        }
        thirds = {name: parts[name] for name in known}
        support = {
            name: parts[name][0]
            if many_shot
            else _first_shots(rows, _shots(name, setting, seeds), groups)
            for name, rows in shuffled.items()
            if name in few
        }
        labelled = np.concatenate([*(part[0] for part in thirds.values()), *support.values()])
        free = _not_with(labelled, groups)
        split = cls(
            seed=seed,
            node_seed=seeds.seed,
            setting=setting,
            base=base,
            pseudo_novel=pseudo_novel,
            validation=validation,
            novel=novel,
            members=labels.select((*known, *few)),
            train=NodeLabels({name: part[0] for name, part in thirds.items()}),
            held_out=NodeLabels({name: free(part[1]) for name, part in thirds.items()}),
            test=NodeLabels({name: free(part[2]) for name, part in thirds.items()}),
            support=NodeLabels(support),
            query=NodeLabels(
                {name: free(np.setdiff1d(shuffled[name], support[name])) for name in few}
            ),
        )
        split._check()
        return split

    def _check(self) -> None:
        parts: Mapping[str, NodeLabels] = {
            "training": self.train,
            "held-out": self.held_out,
            "test": self.test,
            "query": self.query,
        }
        for part, labelled in parts.items():
            empty = [name for name, rows in labelled.items() if rows.size == 0]
            if empty:
                raise DataError(
                    f"Class {empty[0]!r} has no {part} nodes left of its "
                    f"{self.members[empty[0]].size} (nodes of one group stay on one side): drop "
                    "classes this small or ask for fewer shots."
                )

    @property
    def known(self) -> tuple[str, ...]:
        """Classes of session 0: base and pseudo-novel classes."""
        return self.base + self.pseudo_novel

    @property
    def num_sessions(self) -> int:
        """Number of sessions, which are session 0 and one for every ``ways`` novel classes."""
        return 1 + -(-len(self.novel) // self.setting.ways)

    def arriving(self, index: int) -> tuple[str, ...]:
        """Return the classes that arrive in a session.

        Args:
            index: Number of the session, from 0.
        """
        ways = self.setting.ways
        return self.novel[(index - 1) * ways : index * ways] if index else self.known

    @cached_property
    def queried(self) -> NodeLabels:
        """Test nodes of known classes and query nodes of novel classes."""
        return self.test | self.query.select(self.novel)

    def rehearsal(self) -> "ClassSplit":
        """Return a split for choosing hyper-parameters, with validation classes as novel classes.

        It contains no test nodes: half of the held-out nodes become its test nodes, and the other
        half stays held out.
        """
        shuffled = {
            name: Seeds(self.node_seed).generator("rehearsal", name).permutation(np.sort(rows))
            for name, rows in self.held_out.items()
        }
        halves = {name: np.array_split(rows, 2) for name, rows in shuffled.items()}
        return replace(
            self,
            setting=replace(self.setting, validation=0, novel=len(self.validation)),
            validation=(),
            novel=self.validation,
            members=self.train | self.held_out | self.members.select(self.validation),
            held_out=NodeLabels({name: half for name, (_, half) in halves.items()}),
            test=NodeLabels({name: half for name, (half, _) in halves.items()}),
            support=self.support.select(self.validation),
            query=self.query.select(self.validation),
        )

    @cached_property
    def content_hash(self) -> str:
        """Hash of the setting, all roles of classes, and their nodes."""
        roles = [list(self.base), list(self.pseudo_novel), list(self.validation), list(self.novel)]
        parts = (self.members, self.train, self.held_out, self.test, self.support, self.query)
        # Options that are None are omitted, so that adding an option does not change old hashes.
        setting = {name: count for name, count in asdict(self.setting).items() if count is not None}
        return content_hash(setting, roles, [part.content_hash for part in parts])


def _roles(
    sizes: Mapping[str, int], setting: Setting, seed: int
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    once = Seeds(0).generator("validation classes").permutation(sorted(sizes))
    validation = tuple(once[: setting.validation].tolist())
    rest = Seeds(seed).generator("classes").permutation(sorted(once[setting.validation :]))
    order: list[str] = rest.tolist()
    base = tuple(name for name in order if sizes[name] >= setting.base_nodes)[: setting.base]
    if len(base) < setting.base:
        raise DataError(
            f"{setting.base} base classes of at least {setting.base_nodes} nodes are asked for, "
            f"{len(base)} classes are that large and are not for validation."
        )
    others = [name for name in order if name not in base]
    pseudo_novel = tuple(others[: setting.pseudo_novel])
    novel = tuple(others[setting.pseudo_novel :][: setting.novel])
    return base, pseudo_novel, validation, novel


def _fractions(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    first, second = round(TRAIN * rows.size), round((TRAIN + HELD_OUT) * rows.size)
    return np.split(rows, [first, second])


def _by_group(rows: NDArray[np.int64], groups: Groups, seeds: Seeds) -> list[NDArray[np.int64]]:
    # Draw one part (training, held-out or test) per group, even if its nodes have several classes.
    group = groups[rows]
    values, inverse = np.unique(group, return_inverse=True)
    draws = np.array([seeds.number("group", str(value)) for value in values.tolist()]) / 2**63
    side = np.searchsorted([TRAIN, TRAIN + HELD_OUT], draws[inverse], side="right")
    return [rows[side == part] for part in range(3)]


def _shots(name: str, setting: Setting, seeds: Seeds) -> int:
    if setting.least_shots is None:
        return setting.shots
    count = seeds.generator("shots", name).integers(setting.least_shots, setting.shots + 1)
    return int(count)


def _first_shots(rows: NDArray[np.int64], shots: int, groups: Groups | None) -> NDArray[np.int64]:
    if groups is not None:
        # Take one node of each group first, because nodes of a group are nearly identical.
        _, first = np.unique(groups[rows], return_index=True)
        rows = np.concatenate((rows[np.sort(first)], np.delete(rows, first)))
    return rows[:shots]


def _not_with(
    labelled: NDArray[np.int64], groups: Groups | None
) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    if groups is None:
        return lambda rows: rows
    labelled_groups = np.unique(groups[labelled])
    return lambda rows: rows[~np.isin(groups[rows], labelled_groups)]

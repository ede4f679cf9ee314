from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit

SETTING = Setting(base=3, pseudo_novel=2, validation=2, novel=4, ways=2, shots=3)
CLASSES = 12
LABELS = NodeLabels({f"c{i:02d}": np.arange(i * 20, i * 20 + 20) for i in range(CLASSES)})
MANY = NodeLabels({f"c{i:02d}": np.arange(i * 200, i * 200 + 200) for i in range(CLASSES)})
# Pairs of a group within a class, and groups that run through classes.
PAIRS = np.arange(CLASSES * 200) // 2
THROUGH = np.arange(CLASSES * 200) % 970


def draw(seed: int = 0, **changes: int) -> ClassSplit:
    return ClassSplit.draw(LABELS, replace(SETTING, **changes), seed)


def draw_grouped(groups: NDArray[np.int64] | None, seed: int = 0, shots: int = 3) -> ClassSplit:
    return ClassSplit.draw(MANY, replace(SETTING, shots=shots), seed, groups)


def taught_and_measured(split: ClassSplit) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    taught = (split.train, split.support)
    measured = (split.held_out, split.test, split.query)
    return tuple(np.concatenate([part.rows() for part in side]) for side in (taught, measured))  # type: ignore[return-value]


def test_roles_are_disjoint_and_of_the_size_asked() -> None:
    split = draw()
    roles = (split.base, split.pseudo_novel, split.validation, split.novel)
    assert [len(role) for role in roles] == [3, 2, 2, 4]
    assert len({name for role in roles for name in role}) == SETTING.classes
    assert split.known == split.base + split.pseudo_novel
    assert set(split.members) == {name for role in roles for name in role}


def test_known_classes_are_cut_60_20_20_and_few_shot_ones_by_shots() -> None:
    split = draw()
    for name in split.known:
        parts = [split.train[name], split.held_out[name], split.test[name]]
        assert [part.size for part in parts] == [12, 4, 4]
        assert sorted(np.concatenate(parts)) == LABELS[name].tolist()
    for name in split.validation + split.novel:
        parts = [split.support[name], split.query[name]]
        assert [part.size for part in parts] == [3, 17]
        assert sorted(np.concatenate(parts)) == LABELS[name].tolist()
    assert split.train.classes == split.held_out.classes == split.test.classes == split.known
    assert split.support.classes == split.query.classes == split.validation + split.novel


def test_the_split_of_a_seed_never_changes() -> None:
    split = draw(seed=7)
    assert split.base == ("c01", "c03", "c00")
    assert split.support[split.novel[0]].tolist() == [40, 43, 59]
    assert split.content_hash == "3e4eeab719958673f9d5d6b02d6dc3fa"


def test_validation_classes_are_the_same_in_every_split() -> None:
    splits = [draw(seed) for seed in range(20)]
    assert {split.validation for split in splits} == {splits[0].validation}
    assert len({split.novel for split in splits}) == 20
    assert draw(0, validation=1).validation == splits[0].validation[:1]


def test_base_classes_may_have_to_be_large() -> None:
    sizes = {f"c{number:02d}": 100 * number + np.arange(10 + number) for number in range(12)}
    setting = replace(SETTING, base_nodes=16)
    for seed in range(10):
        split = ClassSplit.draw(NodeLabels(sizes), setting, seed)
        assert all(split.members[name].size >= 16 for name in split.base)
    with pytest.raises(DataError, match="base classes of at least 99 nodes"):
        ClassSplit.draw(NodeLabels(sizes), replace(SETTING, base_nodes=99), 0)


def test_new_classes_may_have_uneven_numbers_of_labels() -> None:
    uneven = draw(0, least_shots=1)
    sizes = uneven.support.counts()
    assert set(sizes.values()) <= set(range(1, SETTING.shots + 1))
    assert len(set(sizes.values())) > 1
    assert sizes == draw(0, least_shots=1).support.counts()
    for name, rows in uneven.support.items():
        # The same nodes as without it, only fewer of them.
        assert np.isin(rows, draw(0).support[name]).all()
    with pytest.raises(ParameterError, match="least_shots is 9, more than shots"):
        draw(0, least_shots=9)


def test_roles_and_nodes_have_seeds_of_their_own() -> None:
    both = draw(0)
    nodes = ClassSplit.draw(LABELS, SETTING, 0, node_seed=1)
    assert (nodes.base, nodes.novel) == (both.base, both.novel)
    assert nodes.train != both.train
    roles = ClassSplit.draw(LABELS, SETTING, 1, node_seed=0)
    assert roles.novel != both.novel
    common = [name for name in roles.known if name in both.known]
    assert roles.train.select(common) == both.train.select(common)
    assert both == ClassSplit.draw(LABELS, SETTING, 0, node_seed=0)


def test_a_split_is_a_value() -> None:
    assert draw() == draw()
    assert draw().content_hash == draw().content_hash
    assert draw(0) != draw(1)
    assert len({draw(seed).content_hash for seed in range(20)}) == 20


def test_the_order_in_which_labels_are_given_does_not_matter() -> None:
    backwards = NodeLabels({name: LABELS[name][::-1] for name in reversed(LABELS.classes)})
    again = ClassSplit.draw(backwards, SETTING, 0)
    assert (again.train, again.support) == (draw().train, draw().support)


def test_supports_nest_and_classes_stay_when_shots_grow() -> None:
    splits = [draw(shots=shots) for shots in (1, 3, 10)]
    for small, large in pairwise(splits):
        assert (small.base, small.novel) == (large.base, large.novel)
        assert small.train == large.train
        assert small.support.classes == large.support.classes
        for name, rows in small.support.items():
            assert large.support[name][: rows.size].tolist() == rows.tolist()


@pytest.mark.parametrize("changed", ["c00", "c07"])
def test_what_one_class_holds_moves_no_node_of_another(changed: str) -> None:
    before = draw()
    labels = NodeLabels({**LABELS, changed: np.arange(900, 950)})
    after = ClassSplit.draw(labels, SETTING, 0)
    for part in ("train", "held_out", "test", "support", "query"):
        for name in set(getattr(before, part)) - {changed}:
            assert getattr(after, part)[name].tolist() == getattr(before, part)[name].tolist()


@pytest.mark.parametrize("groups", [PAIRS, THROUGH], ids=["within a class", "across classes"])
@pytest.mark.parametrize("seed", range(5))
def test_a_group_is_never_on_both_sides(groups: NDArray[np.int64], seed: int) -> None:
    taught, measured = taught_and_measured(draw_grouped(groups, seed))
    assert not np.intersect1d(groups[taught], groups[measured]).size
    assert min(taught.size, measured.size) > 500
    plain = taught_and_measured(draw_grouped(None, seed))
    assert np.intersect1d(groups[plain[0]], groups[plain[1]]).size


def test_with_groups_the_parts_are_about_60_20_20() -> None:
    split = draw_grouped(PAIRS)
    sizes = np.array([part.num_nodes for part in (split.train, split.held_out, split.test)])
    np.testing.assert_allclose(sizes / sizes.sum(), [0.6, 0.2, 0.2], atol=0.04)


def test_supports_take_one_of_a_group_before_two() -> None:
    few, many = draw_grouped(PAIRS, shots=3), draw_grouped(PAIRS, shots=60)
    for name in many.novel:
        assert np.unique(PAIRS[many.support[name]]).size == 60
        assert few.support[name].tolist() == many.support[name][:3].tolist()


@pytest.mark.parametrize(
    ("size", "shots", "message"),
    [
        (3, 3, "'{novel}' has no query nodes left of its 3 .*: drop classes this small or ask"),
        (2, 9, "'{novel}' has no query nodes left"),
        (0, 3, "'{base}' has no training nodes left"),
        (1, 3, "'{base}' has no held-out nodes left"),
        (2, 3, "'{base}' has no test nodes left"),
    ],
)
def test_a_class_too_small_is_named(size: int, shots: int, message: str) -> None:
    split = draw()
    name = split.novel[2] if "{novel}" in message else split.base[1]
    labels = NodeLabels({**LABELS, name: LABELS[name][:size]})
    with pytest.raises(DataError, match=message.format(novel=name, base=name)):
        ClassSplit.draw(labels, replace(SETTING, shots=shots), 0)


def test_too_few_classes_are_counted() -> None:
    with pytest.raises(DataError, match=r"4/2/2/5 classes .* needs 13 classes, there are 12"):
        draw(base=4, novel=5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base": 0}, "base must be a whole number at least 1, not 0"),
        ({"ways": 0, "shots": -1}, "ways must be a whole number at least 1"),
        ({"novel": -1}, "novel must be a whole number at least 0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(SETTING, **changes)


@pytest.mark.parametrize("groups", [None, PAIRS], ids=["alone", "in pairs"])
def test_many_shots_are_most_of_a_class_and_no_query(groups: NDArray[np.int64] | None) -> None:
    few = draw_grouped(groups)
    many = ClassSplit.draw(MANY, SETTING, 0, groups, many_shot=True)
    assert many.train == few.train
    assert many.test == few.test
    assert many.content_hash != few.content_hash
    taught, measured = taught_and_measured(many)
    assert not np.isin(measured, taught).any()
    for name in many.novel:
        assert 80 <= many.support[name].size <= 150
    if groups is not None:
        assert not np.isin(groups[measured], groups[taught]).any()

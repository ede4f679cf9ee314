import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nodegraft.base.errors import DataError
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit
from tests.property.strategies import labelled_settings, thorough

drawn = labelled_settings()
seeds = st.integers(0, 1000)


@thorough
@given(drawn, seeds)
def test_every_node_of_a_class_has_one_part(given_: tuple[NodeLabels, Setting], seed: int) -> None:
    labels, setting = given_
    split = ClassSplit.draw(labels, setting, seed)
    roles = split.base, split.pseudo_novel, split.validation, split.novel
    sizes = setting.base, setting.pseudo_novel, setting.validation, setting.novel
    assert tuple(map(len, roles)) == sizes
    assert len(set(sum(roles, ()))) == setting.classes
    parts = split.train, split.held_out, split.test, split.support, split.query
    rows = np.concatenate([part.rows() for part in parts])
    assert sorted(rows) == sorted(split.members.rows())
    assert np.unique(rows).size == rows.size
    for part in parts:
        assert all(np.isin(part[name], labels[name]).all() for name in part)
    assert all(split.support[name].size == setting.shots for name in split.support)


@thorough
@given(drawn, seeds, st.integers(1, 6), st.integers(1, 40))
def test_groups_stay_on_one_side(
    given_: tuple[NodeLabels, Setting], seed: int, width: int, count: int
) -> None:
    labels, setting = given_
    groups = np.arange(labels.num_nodes) // width % count
    try:
        split = ClassSplit.draw(labels, setting, seed, groups)
    except DataError:
        return
    taught = np.concatenate((split.train.rows(), split.support.rows()))
    measured = [part.rows() for part in (split.held_out, split.test, split.query)]
    assert not np.isin(groups[np.concatenate(measured)], groups[taught]).any()
    every = np.concatenate((taught, *measured))
    assert np.unique(every).size == every.size
    assert np.isin(every, split.members.rows()).all()

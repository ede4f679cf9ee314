"""An inner stream has nothing of what the test stream of its seed asks about."""

from dataclasses import replace

import numpy as np
import pytest
from studies.confidence import WAYS, certainty, taught
from studies.inner_streams import inner_stream

from nodegraft.lab.datasets.synthetic import Synthetic
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.streams.arrival import Arrival


@pytest.fixture(scope="module")
def data() -> LoadedDataset:
    return Synthetic(nodes=800, classes=16).load()


@pytest.mark.parametrize("arrival", ["growing", "present"])
@pytest.mark.parametrize("grouped", [False, True])
def test_novel_classes_and_test_nodes_of_the_seed_do_not_exist(
    data: LoadedDataset, arrival: Arrival, grouped: bool
) -> None:
    groups = np.arange(data.graph.num_nodes) // 2
    if grouped:
        data = replace(data, groups=groups)
    outer, inner = data.stream(seed=3), inner_stream(data, 3, arrival)
    roles = outer.split
    hidden = data.graph.rows_of(outer.user_keys(roles.queried.rows()))
    there = data.graph.rows_of(inner.user_keys(inner.session(len(inner) - 1).view.rows))
    assert hidden.size
    assert not np.isin(there, hidden).any()
    assert np.isin(groups[there], groups[hidden]).any() != grouped
    assert set(inner.split.members) == {*roles.known, *roles.validation}
    for name, rows in inner.split.members.items():
        assert set(inner.user_keys(rows)) <= set(outer.user_keys(roles.members[name]))


def test_the_way_that_is_built_in_is_what_the_model_says(data: LoadedDataset) -> None:
    *_, (model, session, _) = taught(data, 0, "present")
    rows = np.sort(session.query.rows())
    scores = model.score_rows(session.view, rows)
    ways = {name: certainty(model, session.view, rows, way)[1] for name, way in WAYS.items()}
    confidence = model.confidence(session.view, scores)
    assert np.allclose(ways.pop("as it is"), confidence, atol=1e-12)
    assert all(not np.allclose(one, confidence) for one in ways.values())

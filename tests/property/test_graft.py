"""The algebra of adding and taking away classes, over random streams."""

from copy import copy

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nodegraft.graph.graph import Graph
from nodegraft.methods.graft import Graft
from tests.graph.reference import everyone, random_graph
from tests.slow_suite import examples

often = settings(max_examples=examples(1000, 60), deadline=None, derandomize=True)

GRAPHS, TWINS = (
    [random_graph(sparse, nodes=40, seed=seed) for sparse in (False, True) for seed in (0, 1)]
    for _ in range(2)
)
FITTED = [Graft(kept_labels=4).fit(graph, {"a": [0, 1], "b": [2]}) for graph in GRAPHS]

Classes = dict[str, list[int]]


@st.composite
def new_classes(draw: st.DrawFn) -> Classes:
    """Up to six classes of up to six nodes, no node twice."""
    # By a drawn seed: drawing 37 places one by one would take most of the time.
    nodes = np.random.default_rng(draw(st.integers(0, 2**32))).permutation(range(3, 40)).tolist()
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    ends = np.cumsum([0, *sizes])
    return {f"n{place}": nodes[ends[place] : ends[place + 1]] for place in range(len(sizes))}


def state(model: Graft) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in model.state().arrays.items()}


def scores(model: Graft, graph: Graph) -> dict[str, list[float]]:
    columns = model.score_rows(graph, everyone(graph)).T.tolist()
    return dict(zip(model.classes_, columns, strict=True))


places = st.sampled_from(range(len(GRAPHS)))


@often
@given(places, new_classes(), st.data())
def test_taking_away_restores_every_byte_in_any_order(
    place: int, classes: Classes, data: st.DataObject
) -> None:
    """The state is that of a model which never met the classes that are gone."""
    graph, model, fresh = GRAPHS[place], copy(FITTED[place]), copy(FITTED[place])
    model.add_classes(graph, classes)
    gone = data.draw(st.lists(st.sampled_from(list(classes)), min_size=1, unique=True))
    for name in gone:
        model.remove_classes([name])
    left = {name: rows for name, rows in classes.items() if name not in gone}
    if left:
        fresh.add_classes(graph, left)
    assert state(model) == state(fresh)
    assert scores(model, graph) == scores(fresh, graph)


@often
@given(places, new_classes(), st.data())
def test_the_order_of_classes_changes_no_score(
    place: int, classes: Classes, data: st.DataObject
) -> None:
    """Nor does what was asked between, nor that first classes are gone; with no cache in common."""
    graph, twin = GRAPHS[place], TWINS[place]
    first, second = copy(FITTED[place]), copy(FITTED[place])
    first.add_classes(graph, classes)
    order = data.draw(st.permutations(list(classes)))
    cut = data.draw(st.integers(0, len(order)))
    for names in (order[:cut], order[cut:]):
        if names:
            second.add_classes(twin, {name: classes[name] for name in names})
        if data.draw(st.booleans()):
            second.score_rows(twin, everyone(twin))
    gone = data.draw(st.sampled_from([(), ("a",), ("b",), ("a", "b")]))
    for model in (first, second):
        if gone:
            model.remove_classes(gone)
    assert scores(first, graph) == scores(second, twin)


@often
@given(places, new_classes(), st.data())
def test_labels_bit_by_bit_are_labels_at_once(
    place: int, classes: Classes, data: st.DataObject
) -> None:
    graph, at_once, bit_by_bit = GRAPHS[place], copy(FITTED[place]), copy(FITTED[place])
    at_once.add_classes(graph, classes)
    cuts = {name: data.draw(st.integers(1, len(rows))) for name, rows in classes.items()}
    bit_by_bit.add_classes(graph, {name: rows[: cuts[name]] for name, rows in classes.items()})
    later = {name: rows[cuts[name] :] for name, rows in classes.items()}
    for name in data.draw(st.permutations([name for name, rows in later.items() if rows])):
        bit_by_bit.add_labels(graph, {name: later[name]})
    assert state(bit_by_bit) == state(at_once)
    assert scores(bit_by_bit, graph) == scores(at_once, graph)

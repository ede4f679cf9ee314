import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.lda import LDA
from tests.contract.streams import small_stream
from tests.graph.reference import Dense, dense, everyone


def taught(labels: NodeLabels, sessions: list[list[str]], **parameters: float) -> tuple[LDA, Graph]:
    """Knows the classes of the split and then those of each session, all nodes visible."""
    stream = small_stream()
    model = LDA(max_epochs=4, **parameters)  # type: ignore[arg-type]
    model.fit(stream._graph, stream.split.train)
    for classes in sessions:
        model.add_classes(stream._graph, labels.select(classes))
    return model, stream._graph


def by_scikit_learn(model: LDA, graph: Graph, labels: NodeLabels, priors: Dense) -> Dense:
    """The same embeddings, and its discriminants with the priors taken off again."""
    reference = LinearDiscriminantAnalysis(
        solver="lsqr", shrinkage=model.shrinkage, priors=priors / priors.sum()
    )
    targets = labels.targets(labels.classes)
    reference.fit(dense(model.embed(graph, labels.rows().tolist())), targets)
    vectors = dense(model.embed(graph, everyone(graph).tolist()))
    return np.asarray(reference.decision_function(vectors) - np.log(reference.priors_))


@pytest.mark.parametrize("shrinkage", [1e-4, 0.3])
def test_scores_are_those_of_scikit_learn_where_classes_are_of_one_size(shrinkage: float) -> None:
    stream = small_stream()
    labels = NodeLabels({name: rows[:8] for name, rows in stream.split.members.items()})
    model = LDA(max_epochs=4, shrinkage=shrinkage).fit(stream._graph, labels.select([*labels][:6]))
    model.add_classes(stream._graph, labels.select([*labels][6:]))
    expected = by_scikit_learn(model, stream._graph, labels, np.ones(len(labels)))
    found = model.score_rows(stream._graph, everyone(stream._graph))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_few_shot_classes_share_the_covariance_of_all_nodes_and_are_not_drowned() -> None:
    split = small_stream().split
    model, graph = taught(split.support, [[*split.novel[:2]]])
    labels = split.train | split.support.select(split.novel[:2])
    sizes = np.array([rows.size for rows in labels.values()], dtype=np.float64)
    # With priors by size scikit-learn pools the nodes; their logarithms are taken off again.
    expected = by_scikit_learn(model, graph, labels, sizes)
    found = model.score_rows(graph, everyone(graph))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_the_order_of_classes_changes_nothing_but_rounding() -> None:
    split = small_stream().split
    novel = [*split.novel]
    at_once, graph = taught(split.support, [novel])
    turned, _ = taught(split.support, [[name] for name in reversed(novel)])
    columns = [turned.classes_.index(name) for name in at_once.classes_]
    ours, theirs = (model.score_rows(graph, everyone(graph)) for model in (at_once, turned))
    np.testing.assert_allclose(theirs[:, columns], ours, rtol=1e-9, atol=1e-9)


def test_classes_of_one_node_each_are_told_apart_by_distance() -> None:
    graph = small_stream()._graph
    model = LDA(max_epochs=4).fit(graph, {"a": [0], "b": [1], "c": [2]})
    vectors = dense(model.embed(graph, everyone(graph).tolist()))
    nearest = np.square(vectors[:, None] - vectors[None, :3]).sum(axis=2).argmin(axis=1)
    assert model.predict(graph, everyone(graph).tolist()) == ["abc"[place] for place in nearest]

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.sparse import csr_array

from nodegraft.base.errors import (
    CheckpointError,
    ClassNameError,
    NotSupportedError,
    ParameterError,
)
from nodegraft.evaluation.protocol import evaluate
from nodegraft.graph.edges.entries import OUT
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.propagation import diffusion
from nodegraft.lab.datasets.synthetic import Synthetic
from nodegraft.methods.graft import Graft
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.streams.setting import Setting
from nodegraft.streams.stream import ClassStream
from tests.graph.reference import Dense, dense, everyone, joined_in, normalised, random_graph

BASE = NodeLabels({"a": [0, 1, 2, 38], "b": [3, 4], "c": [5]})
NEW = NodeLabels({"d": [6, 7, 39]})
ALL = BASE | NEW


def unit(rows: Dense) -> Dense:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def literal_scores(graph: Graph, sparse: bool, weights: Dense) -> Dense:
    """The formula of the docstring, word for word, in double precision."""
    layer = dense(graph.features(everyone(graph)))
    spread = normalised(joined_in(graph))
    if sparse:
        layer = layer * (np.log((1 + len(layer)) / (1 + (layer != 0).sum(axis=0))) + 1)
    z = [unit(np.linalg.matrix_power(spread, hop) @ layer) for hop in range(3)]
    if graph.is_directed("edges"):
        leads = dense(graph._store.adjacency("edges").along(OUT))
        z += [unit(leads @ layer), unit(leads.T @ layer)]
    means = [np.stack([one[rows].mean(axis=0) for rows in ALL.values()]) for one in z]
    centre = [one[: len(BASE)].mean(axis=0) for one in means]
    background = [one.mean(axis=0) + 1e-7 for one in z]
    counts = np.array([rows.size for rows in ALL.values()])

    def cosines(towards: list[Dense]) -> list[Dense]:
        parts = zip(z, towards, centre, strict=True)
        return [unit(one - middle) @ unit(mean - middle).T for one, mean, middle in parts]

    def words(towards: list[Dense]) -> list[Dense]:
        if layer.min() < 0:
            return []
        pairs = zip(towards, background, strict=True)
        ratios = [np.log((q + b) / (2 * b)) for q, b in pairs]
        return [z[hop] @ ratios[hop].T for hop in (0, 2)]

    heat, nodes = [], np.arange(len(layer))
    even = np.stack([np.isin(nodes, rows) / rows.size for rows in ALL.values()], axis=1)
    roots = np.sqrt(joined_in(graph).sum(axis=1) + 1)
    for time in (2, 8, 32, 128):
        mass = expm(-time * (np.eye(nodes.size) - spread)) @ even / roots[:, None]
        heat.append(np.log(mass / mass.mean(axis=0) + 0.1))
    few = np.tile(np.log1p(100 / counts), (len(layer), 1))
    beside = np.hstack(z[:3]) / np.sqrt(3)
    examples = beside[BASE.rows()]
    owners = np.repeat(np.arange(len(BASE)), counts[: len(BASE)])
    balanced = examples / counts[owners][:, None]
    inverse = np.linalg.inv(balanced.T @ examples + 0.03 * np.eye(beside.shape[1]))
    joining = np.hstack(means[:3])[-1] / np.sqrt(3)
    later = inverse @ joining / (1 + joining @ inverse @ joining)
    ways = np.column_stack((inverse @ balanced.T @ np.eye(len(BASE))[owners], later))
    regression = np.log(np.maximum(beside @ ways, 0) + 0.1)
    pool = np.setdiff1d(everyone(graph), ALL.rows())
    refined = means
    for stage in range(3):
        signals = [*heat, regression, *cosines(refined), *words(refined), few]
        scores: Dense = sum(w * one for w, one in zip(weights[stage], signals, strict=True))
        likely = np.exp(scores[pool])
        shares = np.full(len(ALL), 1 / len(ALL))
        for _ in range(10):
            chances = likely * shares / (likely * shares).sum(axis=1, keepdims=True)
            shares = (chances.sum(axis=0) + 1) / (pool.size + len(ALL))
        gained = chances.sum(axis=0)
        refined = [
            (counts[:, None] * mean + chances.T @ one[pool]) / (counts + gained)[:, None]
            for mean, one in zip(means, z, strict=True)
        ]
    return scores


def taught(graph: Graph, **parameters: Any) -> Graft:
    model = Graft(**parameters).fit(graph, BASE)
    model.add_classes(graph, NEW)
    return model


@pytest.mark.parametrize("kind", ["dense", "sparse", "words", "directed"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scores_are_the_formula(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Below rounding: then heat is that of the formula, too.
    monkeypatch.setattr(diffusion, "TOLERANCE", 1e-9)
    graph = random_graph(kind != "dense", seed=seed)
    if kind in ("words", "directed"):
        graph = graph.with_features(abs(graph.features(everyone(graph))))
    if kind == "directed":
        pairs = np.stack(graph.edges(), axis=1)
        relation = Relation(pairs, directed=True)
        graph = Graph(range(40), graph.features(everyone(graph)), {"edges": relation})
    model = taught(graph)
    assert model.directed_ == (kind == "directed")
    expected = literal_scores(graph, kind != "dense", model.weights_)
    # Heat and rows are in single precision; weights are up to 7.
    np.testing.assert_allclose(model.score_rows(graph, everyone(graph)), expected, atol=2e-5)


def stream(homophily: float = 0.8, signal: float = 2.5, seed: int = 0) -> ClassStream:
    loaded = Synthetic(nodes=1200, classes=14, homophily=homophily, signal=signal).load()
    setting = Setting(base=4, pseudo_novel=4, validation=2, novel=4, ways=2, shots=5)
    return loaded.stream(seed=seed, setting=setting, arrival="with-class")


def last(method: Any, given: ClassStream) -> float:
    accuracy: float = evaluate(method, given).summary["last_accuracy"]
    return accuracy


def test_is_ahead_of_plain_means() -> None:
    given = stream(homophily=0.6, signal=1.5)
    assert last(Graft(), given) > last(SGCMean(), given) + 0.05


def test_edges_that_tell_nothing_are_given_no_weight() -> None:
    """Neighbours drawn regardless of class: no worse than a model that never looks at them."""
    given = stream(homophily=0.0, signal=4.0)
    model = Graft()
    assert last(model, given) > last(Graft(hops=0, diffusion=False), given) - 0.01
    weights, times = model.weights_[-1], model.times_.size
    # After diffusion comes the regression, then own features, one hop and two hops away.
    assert weights[times + 3] < weights[times + 1] / 10
    assert weights[:times].sum() < 0.1


def unlike_neighbours(directed: bool, classes: int = 8, size: int = 60) -> tuple[Graph, NodeLabels]:
    """Every node points to nodes of the next class but one; its own features say little."""
    draws = np.random.default_rng(0)
    owner = np.repeat(np.arange(classes), size)
    rows = 0.6 * draws.standard_normal((classes, 24))[owner]
    rows += draws.standard_normal(rows.shape)
    source = np.repeat(np.arange(owner.size), 3)
    target = (owner[source] + 2) % classes * size + draws.integers(size, size=source.size)
    relation = Relation(np.stack((source, target), axis=1), directed=directed)
    labels = NodeLabels({f"c{one}": np.flatnonzero(owner == one) for one in range(classes)})
    return Graph(range(owner.size), rows.astype(np.float32), {"edges": relation}), labels


@pytest.mark.parametrize("directed", [True, False])
def test_unlike_neighbours_do_not_hurt_and_their_direction_tells(directed: bool) -> None:
    graph, members = unlike_neighbours(directed)
    setting = Setting(base=3, pseudo_novel=3, validation=0, novel=2, ways=1, shots=5)
    given = ClassStream.draw(graph, members, setting, arrival="present")
    whole = last(Graft(), given)
    assert whole > last(Graft(hops=0, diffusion=False, directions=False), given) - 0.01
    neither = last(Graft(directions=False, typed_blocks=False), given)
    assert not directed or whole > neither + 0.05


def test_practice_needs_classes_and_labels_to_spare() -> None:
    graph = random_graph()
    model = Graft().fit(graph, BASE)
    usual = [*[0.15] * 4, 1.0, *[10 / 3] * 3, 0.4]
    np.testing.assert_allclose(model.weights_, [usual] * 3)


def test_labels_set_aside_for_practice_teach_in_the_end() -> None:
    given = stream()
    model = Graft().fit(given._graph, given.split.train)
    counts = [rows.size for rows in given.split.train.values()]
    scorer = model.derived(given._graph)
    assert scorer.classes.counts[scorer.columns].tolist() == counts
    assert not np.allclose(model.weights_[0, 5:8], 10 / 3)


def test_more_labels_are_as_good_as_all_at_once() -> None:
    graph = random_graph(sparse=True)
    bit_by_bit = taught(graph)
    bit_by_bit.add_labels(graph, {"d": [8, 9], "a": [10]})
    bit_by_bit.add_labels(graph, {"d": [11]})
    at_once = Graft().fit(graph, BASE)
    at_once.add_classes(graph, {"d": [6, 7, 39, 8, 9, 11]})
    at_once.add_labels(graph, {"a": [10]})
    assert same_state(bit_by_bit, at_once)
    assert [known.labels for known in bit_by_bit._table.classes] == [5, 2, 1, 6]


def same_state(first: Graft, second: Graft) -> bool:
    one, other = first.state(), second.state()
    assert one.arrays.keys() == other.arrays.keys()
    return one.document == other.document and all(
        array.tobytes() == other.arrays[name].tobytes() for name, array in one.arrays.items()
    )


def test_what_cannot_be_added_to_is_said_and_changes_nothing() -> None:
    graph = random_graph()
    model = taught(graph)
    before = taught(graph)
    with pytest.raises(ClassNameError, match="has no class 'e'"):
        model.add_labels(graph, {"e": [20]})
    with pytest.raises(ClassNameError, match="2 of the nodes are labels of 'a' already: 0, 1"):
        model.add_labels(graph, {"a": [20, 0, 1]})
    assert same_state(model, before)


def test_only_so_many_labels_are_remembered_one_by_one() -> None:
    graph = random_graph()
    model = Graft(kept_labels=3).fit(graph, {"a": range(20), "b": range(20, 22)})
    classes = model.derived(graph).classes
    assert [rows.size for rows in classes.labels] == [3, 2]
    assert classes.counts.tolist() == [20, 2]


def answers(model: Graft, graph: Graph) -> NDArray[np.float64]:
    return model.predict_proba(graph, everyone(graph).tolist())


def test_abstains_where_it_is_less_sure_than_asked() -> None:
    graph = random_graph()
    model = taught(graph)
    # Three classes are too few to practise on: every node is taken to be of a known one.
    shares = answers(model, graph).max(axis=1)
    level = float(np.median(shares))
    answered = model.predict_or_abstain(graph, everyone(graph).tolist(), min_confidence=level)
    assert [answer is None for answer in answered] == (shares < level).tolist()
    with pytest.raises(ParameterError, match="at least 0 and at most 1, not 95"):
        model.predict_or_abstain(graph, [0], min_confidence=95)
    with pytest.raises(NotSupportedError):
        SGCMean().fit(graph, BASE).predict_or_abstain(graph, [0])


def test_abstains_more_often_on_unknown_classes() -> None:
    given = stream(homophily=0.9, signal=3.0)
    model = Graft().fit(given.session(0).view, given.curriculum)
    last = given.session(len(given) - 1)
    known, novel = (
        model.predict_or_abstain(last.view, last.view.keys_of(last.query.select(names).rows()))
        for names in (given.split.known, given.split.novel)
    )
    refused = [
        sum(answer is None for answer in answers) / len(answers) for answers in (known, novel)
    ]
    assert refused[0] < 0.3
    assert refused[1] > 0.8


def test_how_many_nodes_are_of_unknown_classes_is_seen_in_the_graph() -> None:
    given = stream(homophily=0.9, signal=3.0)
    model = Graft().fit(given.session(0).view, given.curriculum)
    before, after = (
        model.derived(given.session(index).view).share_of_known for index in (0, len(given) - 1)
    )
    assert before > 0.9
    assert after < 0.7


def test_undoing_a_class_undoes_what_it_did_to_confidence() -> None:
    given = stream()
    view, second = given.session(1).view, given.session(1)
    model = Graft().fit(given.session(0).view, given.curriculum)
    before = model.predict_proba(view, view.keys_of(view.rows))
    model.add_classes(view, second.support)
    assert model.predict_proba(view, view.keys_of(view.rows)).shape[1] > before.shape[1]
    model.remove_classes(second.support.classes)
    np.testing.assert_array_equal(model.predict_proba(view, view.keys_of(view.rows)), before)


def test_confidence_is_about_as_often_right() -> None:
    given = stream(signal=1.5, homophily=0.5)
    sessions = evaluate(Graft(), given).sessions
    assert sessions[0].expected_calibration_error < 0.1
    # Neither always right nor lost, or any confidence would do.
    assert 0.5 < sessions[0].micro_accuracy < 0.97


def test_explains_to_the_last_digit() -> None:
    graph = random_graph(sparse=True)
    model = taught(graph)
    why = model.explain(graph, 6)
    scores = model.score_rows(graph, np.array([6]))[0]
    order = np.argsort(-scores)
    assert (why["answer"], why["runner_up"]) == tuple(model.classes_[one] for one in order[:2])
    assert sum(part["for"] for part in why["signals"]) == pytest.approx(scores[order[0]])
    assert sum(part["for_runner_up"] for part in why["signals"]) == pytest.approx(scores[order[1]])
    similar = sum(part["for"] for part in why["signals"][5:8]) - why["unlabelled_nodes"]
    assert sum(label["similarity"] for label in why["labels"]) == pytest.approx(similar, abs=1e-5)
    heat = sum(part["for"] for part in why["signals"][:4])
    heat -= model.weights_[-1, :4].sum() * np.log(0.1)
    assert sum(label["diffusion"] for label in why["labels"]) == pytest.approx(heat, abs=1e-4)
    assert {label["node"] for label in why["labels"]} == set(ALL[why["answer"]].tolist())


@pytest.mark.parametrize("times", [[np.nan, 2.0], [0.0, 2.0], [np.inf, 2.0], [[2.0], [8.0]]])
def test_impossible_diffusion_times_are_refused(times: Any, tmp_path: Path) -> None:
    model = taught(random_graph(), far_diffusion=False, practise=False)
    model.times_ = np.array(times)
    model.save(tmp_path / "model")
    with pytest.raises(CheckpointError, match="diffusion times"):
        Graft.load(tmp_path / "model")


def test_a_model_without_diffusion_times_is_saved_and_explains(tmp_path: Path) -> None:
    graph = random_graph()
    taught(graph, diffusion=False).save(tmp_path / "model")
    model = Graft.load(tmp_path / "model")
    assert model.times_.shape == (0,)
    assert model.times_.dtype == np.float64
    explained = model.explain(graph, graph.keys_of([3])[0])
    assert not any("diffusion" in part["signal"] for part in explained["signals"])
    score = model.score_rows(graph, np.array([3])).max()
    assert sum(part["for"] for part in explained["signals"]) == pytest.approx(score, abs=1e-6)
    assert all(label["diffusion"] == 0.0 for label in explained["labels"])


def test_explains_a_model_of_one_class() -> None:
    graph = random_graph()
    why = Graft(diffusion=False).fit(graph, {"a": [0, 1]}).explain(graph, 5)
    assert (why["answer"], why["runner_up"], why["probability"]) == ("a", "a", 1.0)


def test_text_embeddings_in_half_precision_do_as_well() -> None:
    """768 dense columns: the same answers as in single precision, near enough."""
    draws = np.random.default_rng(0)
    centres = draws.standard_normal((6, 768)) / 28
    rows = (centres[np.arange(120) % 6] + draws.standard_normal((120, 768)) / 10).astype(np.float16)
    labels = {f"c{place}": list(range(place, 90, 6)) for place in range(6)}
    asked = list(range(90, 120))
    half, single = (
        Graft().fit(graph, labels).predict_proba(graph, asked)
        for graph in (Graph(np.arange(120), rows), Graph(np.arange(120), rows.astype(np.float32)))
    )
    np.testing.assert_allclose(half, single, atol=1e-3)
    assert np.mean(half.argmax(axis=1) == np.arange(90, 120) % 6) > 0.9


def test_negative_values_that_come_later_are_no_words() -> None:
    graph = random_graph(sparse=True)
    words = dense(abs(graph.features(everyone(graph))))
    words[30:] *= -1
    graph = graph.with_features(csr_array(words))
    model = Graft().fit(graph.view(np.arange(30)), {"a": [0, 1, 2], "b": [3, 4], "c": [5]})
    model.add_classes(graph, {"d": [31, 32]})
    assert np.isfinite(model.score_rows(graph, everyone(graph))).all()


def test_explains_a_class_with_more_labels_than_are_looked_at() -> None:
    graph = random_graph(sparse=True)
    model = Graft(kept_labels=2).fit(graph, {"a": range(8), "b": range(8, 12)})
    why = model.explain(graph, 20)
    similar = sum(part["for"] for part in why["signals"][5:8]) - why["unlabelled_nodes"]
    assert sum(label["similarity"] for label in why["labels"]) == pytest.approx(similar, abs=1e-5)
    neighbours = graph.degrees([20])[0]
    assert why["relations"] == [{"kind": "edges", "worth": 1.0, "neighbours": neighbours}]


def test_a_kind_that_comes_later_is_worth_what_all_are_on_average() -> None:
    graph = random_graph(sparse=True)
    pairs = np.stack(graph.edges(), axis=1)
    typed = Graph(range(40), graph.features(everyone(graph)), {"on": pairs[:60], "by": pairs[60:]})
    model = Graft().fit(typed, BASE)
    later = typed.grow(edges={"new": [(0, 30)]})
    assert set(model.kinds_) == {"on", "by"}
    assert model._weighing(later)._weights == (*model.kinds_.values(), model.unseen_kind_)


def test_the_order_in_which_classes_are_listed_changes_nothing() -> None:
    given = stream()
    train = given.split.train
    backwards = NodeLabels({name: train[name] for name in reversed(train.classes)})
    one, other = (Graft().fit(given._graph, labels) for labels in (train, backwards))
    rows = everyone(given._graph)
    scores = dict(zip(other.classes_, other.score_rows(given._graph, rows).T, strict=True))
    for name, column in zip(one.classes_, one.score_rows(given._graph, rows).T, strict=True):
        np.testing.assert_array_equal(scores[name], column)


def test_labels_beyond_the_kept_ones_may_be_gone() -> None:
    given = Synthetic().load()
    labels = {name: rows[:12] for name, rows in given.labels.items()}
    model = Graft(kept_labels=3, practise=False).fit(given.graph, labels)
    name = model.classes_[0]
    gone = given.graph.rows_of(model.labels_[name][3:5])
    left = np.setdiff1d(given.graph.rows, gone)
    assert len(model.predict(given.graph.view(left), given.graph.keys_of(left[:2]))) == 2


def test_labels_beyond_the_kept_ones_are_not_taken_for_unlabelled() -> None:
    graph = random_graph(sparse=True)
    model = Graft(kept_labels=1).fit(graph, {"a": range(4), "b": range(4, 8)})
    seen = list[IntArray]()
    evidence = model._evidence(graph)
    plain = evidence.sample

    def watched(without: IntArray) -> IntArray:
        seen.append(without)
        return plain(without)

    evidence.sample = watched  # type: ignore[method-assign]
    model.predict(graph, [20])
    assert sorted(seen[0].tolist()) == list(range(8))

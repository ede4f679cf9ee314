import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.icarl import ICaRL
from nodegraft.methods.neural.losses import distillation_loss
from nodegraft.methods.neural.prototypes import herding
from tests.methods.tuning import SOME_STEPS, assert_holds, lesson, many_sessions, steps_by_hand


def unit(vectors: Tensor) -> Tensor:
    return F.normalize(vectors, dim=-1)


def test_steps_learn_all_labels_and_hold_on_to_the_last_answers() -> None:
    graph, known, new = lesson()
    model = ICaRL(**SOME_STEPS, budget=21, temperature=3.0).fit(graph, known)
    support = new.select(new.classes[:2])
    kept = [row for rows in model.kept_.values() for row in rows]
    assert len(kept) == 20
    rows = torch.tensor([*kept, *support.rows()])
    targets = torch.tensor([column for column in range(5) for _ in range(4)] + [5] * 5 + [6] * 5)
    with torch.no_grad():
        last = model.classifier()(graph.full_batch(2))[rows]

    def loss(scores: Tensor) -> Tensor:
        held = distillation_loss(scores[rows][:, :5], last, 3.0)
        return F.cross_entropy(scores[rows], targets) + held

    expected = steps_by_hand(model, graph, support, loss)
    model.add_classes(graph, support)
    assert_holds(model, expected)


def test_the_score_is_the_distance_to_the_mean_of_exemplars_as_the_encoder_sees_them_now() -> None:
    graph, known, new = lesson()
    model = ICaRL(max_epochs=10, steps=5, budget=30).fit(graph, known)
    before = model.means_
    model.add_classes(graph, new.select(new.classes[:2]))
    assert not torch.allclose(model.means_[:5], before)
    everyone = np.arange(graph.num_nodes)
    vectors = unit(model.embedding(graph, everyone))
    means = [unit(vectors[torch.tensor(rows)].mean(dim=0)) for rows in model.kept_.values()]
    expected = [[-((vector - mean) ** 2).sum().item() for mean in means] for vector in vectors]
    np.testing.assert_allclose(model.score_rows(graph, everyone), expected, atol=1e-5)


def test_exemplars_are_herded_and_cut_as_classes_arrive() -> None:
    graph, known, new = lesson()
    model = ICaRL(max_epochs=10, steps=2, budget=20).fit(graph, known)
    for name, rows in known.items():
        vectors = unit(model.embedding(graph, rows))
        assert model.kept_[name].tolist() == rows[herding(vectors, 4)].tolist()
    first = dict(model.kept_)
    model.add_classes(graph, new.select(new.classes[:1]))
    assert {name: len(rows) for name, rows in model.kept_.items()} == dict.fromkeys(
        model.classes_, 3
    )
    model.add_classes(graph, NodeLabels({name: new[name][:1] for name in new.classes[1:5]}))
    assert [len(rows) for rows in model.kept_.values()] == [2] * 6 + [1] * 4
    assert all(model.kept_[name].tolist() == first[name][:2].tolist() for name in known)


def test_more_classes_than_the_budget_keep_one_exemplar_each() -> None:
    graph, known, new = lesson()
    model = ICaRL(max_epochs=10, steps=2, budget=3).fit(graph, known)
    model.add_classes(graph, new.select(new.classes[:2]))
    assert [len(rows) for rows in model.kept_.values()] == [1] * 7


def test_many_sessions_of_changing_size_stay_finite() -> None:
    graph, known, sessions = many_sessions(30)
    model = ICaRL(max_epochs=10, steps=2, budget=50).fit(graph, known)
    for support in sessions:
        model.add_classes(graph, support)
    assert np.isfinite(model.score_rows(graph, np.arange(graph.num_nodes))).all()

from typing import Literal

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nodegraft.base.errors import ParameterError
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods import er_gnn
from nodegraft.methods.er_gnn import ERGNN, mix
from nodegraft.methods.neural.prototypes import herding
from tests.methods.tuning import SOME_STEPS, assert_holds, lesson, steps_by_hand


def test_the_smaller_part_has_the_larger_weight() -> None:
    new, replayed = torch.tensor(1.0), torch.tensor(0.0)
    assert mix(new, replayed, buffer=9, support=1).item() == pytest.approx(0.9)
    assert mix(new, replayed, buffer=1, support=9).item() == pytest.approx(0.1)
    assert mix(new, new, buffer=3, support=4).item() == pytest.approx(1.0)


def test_steps_are_taken_on_new_supports_and_buffer_by_beta() -> None:
    graph, known, new = lesson()
    model = ERGNN(**SOME_STEPS, kept=3).fit(graph, known)
    support = new.select(new.classes[:2])
    old = torch.tensor([row for rows in model.kept_.values() for row in rows])
    assert len(old) == 15
    fresh, beta = torch.from_numpy(support.rows()), 15 / 25

    def loss(scores: Tensor) -> Tensor:
        kept = torch.arange(5).repeat_interleave(3)
        replayed = F.cross_entropy(scores[old], kept, reduction="sum")
        new = torch.tensor([5] * 5 + [6] * 5)
        taught = F.cross_entropy(scores[fresh], new, reduction="sum")
        return (beta * taught + (1 - beta) * replayed) / 25

    expected = steps_by_hand(model, graph, support, loss)
    model.add_classes(graph, support)
    assert_holds(model, expected)


def test_the_buffer_grows_by_the_session_whatever_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[tuple[int, int]] = []

    def noted(new: Tensor, replayed: Tensor, buffer: int, support: int) -> Tensor:
        sizes.append((buffer, support))
        return mix(new, replayed, buffer, support)

    monkeypatch.setattr(er_gnn, "mix", noted)
    graph, known, new = lesson()
    model = ERGNN(max_epochs=10, steps=1, kept=3).fit(graph, known)
    for classes, shots in ((new.classes[:3], 5), (new.classes[3:4], 1), (new.classes[4:6], 2)):
        model.add_classes(graph, NodeLabels({name: new[name][:shots] for name in classes}))
    assert sizes == [(15, 15), (24, 1), (25, 4)]
    assert [len(rows) for rows in model.kept_.values()] == [3] * 8 + [1] + [2] * 2
    assert tuple(model.kept_) == model.classes_


@pytest.mark.parametrize("choose", ["mean-of-feature", "coverage", "influence"])
def test_every_way_to_choose_keeps_nodes_of_the_class_itself(
    choose: Literal["mean-of-feature", "coverage", "influence"],
) -> None:
    graph, known, new = lesson()
    model = ERGNN(max_epochs=10, steps=2, kept=2, choose=choose).fit(graph, known)
    model.add_classes(graph, new.select(new.classes[:2]))
    for name, rows in (known | new.select(new.classes[:2])).items():
        assert len(set(model.kept_[name])) == 2
        assert np.isin(model.kept_[name], rows).all()


def test_mean_of_feature_keeps_the_nodes_closest_to_the_mean_embedding() -> None:
    graph, known, _ = lesson()
    model = ERGNN(max_epochs=10, kept=1, choose="mean-of-feature").fit(graph, known)
    for name, rows in known.items():
        vectors = model.embedding(graph, rows)
        # The first of a herd is the closest to the mean, too.
        assert model.kept_[name] == [rows[herding(vectors, 1)[0]]]


def test_what_was_chosen_stays() -> None:
    graph, known, new = lesson()
    model = ERGNN(max_epochs=10, steps=2, kept=3).fit(graph, known)
    before = model.kept_
    model.add_classes(graph, NodeLabels({"new": new.rows()[:2]}))
    assert model.kept_.select(known) == before
    assert len(model.kept_["new"]) == 2


def test_replaying_holds_on_to_what_fine_tuning_forgets() -> None:
    graph, known, new = lesson()
    model = ERGNN(max_epochs=30, steps=100).fit(graph, known)
    for name in new.classes[:3]:
        model.add_classes(graph, new.select([name]))
    predicted = model.predict(graph, graph.keys_of(known.rows()))
    truth = [name for name, rows in known.items() for _ in rows]
    assert np.mean(np.array(predicted) == np.array(truth)) > 0.8


def test_an_empty_buffer_is_refused() -> None:
    with pytest.raises(ParameterError, match="kept must be a whole number at least 1, not 0"):
        ERGNN(kept=0)

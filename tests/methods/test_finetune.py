import numpy as np
import torch
import torch.nn.functional as F
from scipy.sparse import csr_array

from nodegraft.methods.finetune import Finetune
from tests.methods.tuning import SOME_STEPS, assert_holds, lesson, steps_by_hand


def test_steps_are_taken_on_the_loss_of_the_new_supports() -> None:
    graph, known, new = lesson()
    model = Finetune(**SOME_STEPS).fit(graph, known)
    support = new.select(new.classes[:2])
    rows = torch.from_numpy(support.rows())
    targets = torch.tensor([5] * 5 + [6] * 5)
    expected = steps_by_hand(
        model, graph, support, lambda scores: F.cross_entropy(scores[rows], targets)
    )
    model.add_classes(graph, support)
    assert_holds(model, expected)


def test_words_no_new_support_can_see_keep_their_weights() -> None:
    graph, known, new = lesson()
    model = Finetune(**SOME_STEPS).fit(graph, known)
    support = new.select(new.classes[:1])
    before = model.encoder_["weights.0"]
    model.add_classes(graph, support)
    seen = graph.neighbourhood(np.sort(support.rows()), 2).rings[0]
    words = csr_array(graph.features(seen)).count_nonzero(axis=0) > 0
    moved = (model.encoder_["weights.0"] != before).any(dim=1).numpy()
    assert moved[words].any()
    assert not moved[~words].any()


def test_nothing_is_kept_but_the_classifier() -> None:
    graph, known, new = lesson()
    model = Finetune(max_epochs=10, steps=2).fit(graph, known)
    model.add_classes(graph, new.select(new.classes[:2]))
    assert set(model.state().document) == {"labels_", "encoder_", "head_"}


def test_it_learns_the_new_and_forgets_the_old() -> None:
    graph, known, new = lesson()
    model = Finetune(max_epochs=30).fit(graph, known)
    for name in new.classes[:2]:
        model.add_classes(graph, new.select([name]))
    last = graph.keys_of(new[name])
    assert model.predict(graph, last) == [name] * 5
    assert set(model.predict(graph, graph.keys_of(known.rows()))) == {name}


def test_what_was_learned_before_is_not_written_into() -> None:
    graph, known, new = lesson()
    model = Finetune(max_epochs=10, steps=3).fit(graph, known)
    head, weights = model.head_, model.encoder_["weights.0"]
    copies = head.clone(), weights.clone()
    model.add_classes(graph, new.select(new.classes[:2]))
    assert torch.equal(head, copies[0])
    assert torch.equal(weights, copies[1])

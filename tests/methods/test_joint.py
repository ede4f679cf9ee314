import numpy as np
import pytest
import torch

from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.benchmark.job import Job
from nodegraft.methods.joint import Joint
from nodegraft.methods.joint_fewshot import JointFewShot
from tests.contract.streams import small_stream
from tests.methods.tuning import lesson

both = pytest.mark.parametrize("method", [JointFewShot, Joint])


@both
def test_three_sessions_are_one_training_on_everything_bit_for_bit(
    method: type[JointFewShot],
) -> None:
    graph, known, new = lesson()
    model = method(max_epochs=10).fit(graph, known)
    shown = [new.select(new.classes[:2]), NodeLabels({new.classes[2]: new[new.classes[2]][:1]})]
    for support in shown:
        model.add_classes(graph, support)
    at_once = method(max_epochs=10).fit(graph, known | shown[0] | shown[1])
    assert model.classes_ == at_once.classes_
    assert torch.equal(model.head_, at_once.head_)
    for name, weight in model.encoder_.items():
        assert torch.equal(weight, at_once.encoder_[name])


def test_held_out_nodes_are_the_curriculums_and_a_share_of_new_supports() -> None:
    stream = small_stream()
    split, session = stream.split, stream.session(1)
    model = JointFewShot(max_epochs=4).fit(stream.session(0).view, stream.curriculum)
    view = stream.session(0).view
    assert model.train_ == KeyedLabels.of(split.train, view)
    assert model.held_out_ == KeyedLabels.of(split.held_out, view)
    taught = NodeLabels({name: split.members[name][:4] for name in session.support})
    model.add_classes(session.view, taught)
    for name, rows in taught.items():
        assert (len(model.train_[name]), len(model.held_out_[name])) == (3, 1)
        assert {*model.train_[name], *model.held_out_[name]} == {*rows.tolist()}


def test_a_class_of_few_labels_counts_like_any_other() -> None:
    graph, known, new = lesson()
    name = new.classes[0]
    recalled = {}
    for balanced in (True, False):
        model = JointFewShot(max_epochs=40, balanced=balanced).fit(graph, known)
        model.add_classes(graph, {name: graph.keys_of(new[name][:1])})
        members = small_stream().split.members[name]
        answers = model.predict(graph, graph.keys_of(members))
        recalled[balanced] = np.mean([answer == name for answer in answers])
    assert recalled[True] > 0.5
    assert recalled[True] >= recalled[False]


def test_a_removed_class_is_not_trained_on_again() -> None:
    graph, known, new = lesson()
    model = JointFewShot(max_epochs=5).fit(graph, known)
    model.remove_classes(known.classes[1:2])
    model.add_classes(graph, new.select(new.classes[:1]))
    left = known.select(name for name in known if name != known.classes[1])
    at_once = JointFewShot(max_epochs=5).fit(graph, left | new.select(new.classes[:1]))
    assert torch.equal(model.head_, at_once.head_)


def test_only_the_upper_reference_is_taught_by_most_nodes_of_a_new_class() -> None:
    jobs = {name: Job(dataset="synthetic", method=name) for name in ("joint", "joint-fewshot")}
    loaded = jobs["joint"].load()
    taught = {name: job.stream(loaded).split.support for name, job in jobs.items()}
    assert taught["joint"].num_nodes > 5 * taught["joint-fewshot"].num_nodes
    assert "upper reference" in jobs["joint"].protocol_name
    assert "upper reference" not in jobs["joint-fewshot"].protocol_name

"""Routes of an ML backend for Label Studio: predictions for tasks, and labels from annotations.

The data of a task has a field ``key``: the key of the node to label. The protocol is that of
https://github.com/HumanSignal/label-studio-ml-backend.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Request

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.predictions import predict_keys
from nodegraft.analysis.version import Version
from nodegraft.base.errors import DataError
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.service import label_studio_models as models
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import ChangeMaker, Changes, Served, key_in, router
from nodegraft.service.errors import HttpError
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store

READ = router("label studio", Scope.READ, prefix="/label-studio")
TEACH = router("label studio", Scope.TEACH, prefix="/label-studio")

KEY_PREFIX = "label-studio"
"""Prefix of the idempotency key of an event; the key also contains the time of the annotation."""

MAX_TIME = 40
"""Maximum number of characters of a time; longer text is ignored."""

_CHOICES = re.compile(r"<Choices\s([^<>]*)>")
_ATTRIBUTE = re.compile(r"(?<!\S)(name|toName)\s*=\s*[\"']([^\"'<>]*)[\"']")


async def _event_changes(event: models.Event, changes: Changes, request: Request) -> ChangeMaker:
    """Recognise an event that is delivered twice, although Label Studio sends no idempotency key.

    Two events with a time are equal if all their content is equal. An event that is older than the
    event that gave the node its label changes nothing. An event without a time is always applied,
    because it may set an earlier class again; this changes nothing if the node has the class
    already.
    """
    times = [annotation.updated_at for annotation in event.annotations()]
    key = event_key(times, changes.key.content)
    if "idempotency-key" in request.headers or key is None:
        return changes
    return replace(changes, key=replace(changes.key, key=key))


@READ.get("/health")
async def health(service: Served) -> models.Health:
    """Check that the service is ready."""
    return models.Health(model_class=service.now.state.model.name)


@READ.post("/setup")
async def set_up(service: Served) -> models.ModelVersion:
    """Return the live version; no setup is needed."""
    return models.ModelVersion(model_version=str(service.now.version))


@READ.post("/predict")
def predict(request: models.TasksToPredict, service: Served) -> models.TaskPredictions:
    """Predict the class of each task's node."""
    live, (from_name, to_name) = service.now, _choice_names(request.label_config)
    graph, number = live.state.graph, str(live.version)
    # A task without key has the key None, which no graph has.
    keys: list[Any] = [_key(graph, task) for task in request.tasks]
    # Labelled nodes get predictions too: Label Studio shows annotations beside them.
    predictions = predict_keys(live.state, keys, live.version, missing="null")
    results = []
    for classes, confidence in zip(predictions.top, predictions.confidence.tolist(), strict=True):
        score = confidence if classes else 0.0
        regions = [
            models.PredictedRegion(
                from_name=from_name, to_name=to_name, value={"choices": [name]}, score=score
            )
            for name in classes
        ]
        results.append(models.TaskPrediction(result=regions, score=score, model_version=number))
    return models.TaskPredictions(results=results, model_version=number)


@TEACH.post("/webhook", status_code=201)
async def handle_event(
    event: models.Event, changes: Annotated[ChangeMaker, Depends(_event_changes)]
) -> models.ModelVersion:
    """Convert an annotation to a label; other events change nothing."""
    return await _add_labels(changes, event.labels(), may_move=event.action == models.UPDATED)


@TEACH.post("/train", status_code=201)
async def train(request: models.AnnotatedTasks, changes: Changes) -> models.ModelVersion:
    """Convert annotations of unlabelled nodes to labels. This makes one version."""
    labels = [
        models.task_label(task, annotation)
        for task in request.annotations
        for annotation in task.annotations
    ]
    return await _add_labels(changes, labels, may_move=False)


async def _add_labels(
    changes: ChangeMaker, labels: list[models.TaskLabel], may_move: bool
) -> models.ModelVersion:
    named = {key: (name, time) for key, name, time in labels if None not in (key, name)}
    version = await changes.version(partial(_label, named, may_move), "Label Studio")
    return models.ModelVersion(model_version=str(version.number))


def _label(
    labels: dict[Any, tuple[Any, str | None]], may_move: bool, store: Store, intent: Intent
) -> Version:
    """Make a version with these labels; if the newest version has them already, return it."""
    # Label Studio ignores errors of a webhook. So if a candidate version waits, add the label to
    # it.
    intent = replace(intent, promote=intent.promote and store.waiting() is None)
    state = store.state(store.newest)
    by_key = {key_in(state.graph, str(key)): value for key, value in labels.items()}
    old = state.labels.owners()
    new = {key: name for key, (name, _) in by_key.items() if key not in old}
    moved = {key: name for key, (name, _) in by_key.items() if old.get(key, name) != name}
    if new:
        return store.change(Change("label", {"more": _by_class(new)}), intent=intent)
    if moved and may_move:
        late = delivered_late(store.history(), {key: by_key[key][1] for key in moved})
        moved = {key: name for key, name in moved.items() if key not in late}
    if moved and may_move:
        return store.change(Change("relabel", {"classes": _by_class(moved)}), intent=intent)
    return store.version()


def _by_class(labels: dict[Key, str]) -> dict[str, list[Key]]:
    return {
        name: [key for key, other in labels.items() if other == name]
        for name in dict.fromkeys(labels.values())
    }


def _key(graph: Graph, task: models.Task) -> Key | None:
    try:
        return None if task.data.key is None else key_in(graph, str(task.data.key))
    except DataError:
        return None


def _choice_names(label_config: str) -> tuple[str, str]:
    """Return `name` and `toName` of the choices in a labelling interface.

    No XML parser is used, because it is unsafe for callers' input.
    """
    first, *rest = label_config.split("<!--")
    # Drop comments, which may contain old choices.
    text = first + "".join(part.partition("-->")[2] for part in rest)
    for choices in _CHOICES.finditer(text):
        attributes = dict(_ATTRIBUTE.findall(choices[1]))
        if attributes.keys() >= {"name", "toName"}:
            return attributes["name"], attributes["toName"]
    message = "The labelling interface has no Choices with a name and a toName."
    raise HttpError(422, "no_choices", message, "Add <Choices name=… toName=…> to the project.")


def event_key(times: Iterable[str | None], content: str) -> str | None:
    """Return an idempotency key with the time of an event; None if an annotation has no time."""
    all_times = list(times)
    valid = [time for time in all_times if time and len(time) <= MAX_TIME and " " not in time]
    if not all_times or len(valid) < len(all_times):
        return None
    # Use the oldest time of the event, so that no newer annotation is ignored later.
    return f"{KEY_PREFIX} {min(valid, key=_sortable)} {content}"


def delivered_late(versions: Iterable[Version], times: Mapping[Key, str | None]) -> set[Key]:
    """Return the nodes whose label comes from a newer annotation.

    Args:
        times: Node -> time of its annotation; None if it has none.
    """
    late = set[Key]()
    for version in versions:
        prefix, *rest = version.measures.get("request", {}).get("key", "").split(" ")
        if prefix != KEY_PREFIX or len(rest) != 2:
            continue
        classes = version.detail.get("more") or version.detail.get("classes") or {}
        for node in (node for nodes in classes.values() for node in nodes):
            time = times.get(node)
            if time and _sortable(time) < _sortable(rest[0]):
                late.add(node)
    return late


def _sortable(time: str) -> str:
    """Return a time whose text sorts correctly with and without fractions of a second."""
    return time.removesuffix("Z")

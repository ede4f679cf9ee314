"""Routes for Label Studio, which calls them an ML back end: answers for tasks, labels from
annotations. A task is about the node whose key is in its data, as ``key``.

The protocol is that of https://github.com/HumanSignal/label-studio-ml-backend.
"""

import re
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.predictions import predict_rows
from nodegraft.analysis.version import Version
from nodegraft.base.errors import DataError
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.service.annotation_times import delivered_late, event_key
from nodegraft.service.auth.limits import MOST_KEYS
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.http_error import HttpError
from nodegraft.service.inputs import Served, key_in, needs
from nodegraft.service.live.writing import Writes, Writing
from nodegraft.service.schemas import Form, NodeKey, Text
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store

READING = APIRouter(prefix="/label-studio", tags=["label studio"], dependencies=[needs(Scope.READ)])
TEACHING = APIRouter(
    prefix="/label-studio", tags=["label studio"], dependencies=[needs(Scope.TEACH)]
)

CREATED, UPDATED = "ANNOTATION_CREATED", "ANNOTATION_UPDATED"
TEACHES = (CREATED, "ANNOTATIONS_CREATED", UPDATED)
"""Events that say a class; the one in the middle has lists of tasks and annotations."""

_CHOICES = re.compile(r"<Choices\s([^<>]*)>")
_ATTRIBUTE = re.compile(r"(?<!\S)(name|toName)\s*=\s*[\"']([^\"'<>]*)[\"']")


class Loose(BaseModel):
    """A form of Label Studio's, which says much more than is needed here."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)


class Chosen(Loose):
    """What somebody chose."""

    choices: list[Text] = []
    """Names of classes."""


class Region(Loose):
    """One mark of an annotation."""

    type: Text = ""
    """Only `choices` says a class."""

    value: Chosen = Chosen()
    """What was chosen."""


class Annotation(Loose):
    """What somebody said about a task."""

    result: list[Region] | None = None
    """All marks; Label Studio says null where there are none."""

    was_cancelled: bool = False
    """Whether the task was skipped."""

    updated_at: Text | None = None
    """When somebody said it last, as Label Studio writes it."""

    @property
    def name(self) -> str | None:
        """The class; None where no one class was chosen."""
        chosen = [one.value.choices for one in self.result or () if one.type == "choices"]
        is_one = not self.was_cancelled and len(chosen) == 1 and len(chosen[0]) == 1
        return chosen[0][0] if is_one else None


class TaskData(Loose):
    """What a task is about."""

    key: NodeKey | None = Field(default=None, examples=["p7"])
    """The key of its node."""


class Task(Loose):
    """A task."""

    data: TaskData = TaskData()
    """What it is about."""

    annotations: list[Annotation] = []
    """What people said, the last one last."""


Tasks = Annotated[list[Task], Field(max_length=MOST_KEYS)]


class Asked(Loose):
    """Tasks whose answers are asked for."""

    tasks: Tasks
    """The tasks."""

    label_config: Text = Field(
        examples=[
            '<View><Text name="text" value="$text"/><Choices name="class" toName="text"/></View>'
        ]
    )
    """The labelling interface of the project; the first `Choices` are the classes."""


class Event(Loose):
    """Something that happened in a project."""

    action: Text = Field(examples=[CREATED])
    """What."""

    task: Task | Tasks = []
    """Where; a list where several annotations were made at once."""

    annotation: Annotation | list[Annotation] = []
    """What was said; as many as tasks."""

    @property
    def said(self) -> list[tuple[NodeKey | None, str | None, str | None]]:
        """The key of each node, the class that it was given, and when."""
        if self.action not in TEACHES:
            return []
        tasks = self.task if isinstance(self.task, list) else [self.task]
        said = self.annotation if isinstance(self.annotation, list) else [self.annotation]
        if len(tasks) != len(said):
            told = f"There are {len(said)} annotations, and {len(tasks)} tasks."
            raise HttpError(422, "unpaired", told, "Send the task of each annotation.")
        return [
            (task.data.key, annotation.name, annotation.updated_at)
            for task, annotation in zip(tasks, said, strict=True)
        ]


class AnnotatedTasks(Loose):
    """Tasks with all that was said about them."""

    annotations: Tasks
    """The tasks."""


class Up(Form):
    """A service that answers."""

    status: Literal["UP"] = "UP"
    """Always."""

    model_class: str = Field(examples=["graft"])
    """The method of its model."""


class Ready(Form):
    """The version that answers, or that was made."""

    model_version: str = Field(examples=["3"])
    """Its number."""


class Mark(Form):
    """An answer, as Label Studio shows it."""

    from_name: str = Field(examples=["class"])
    """The choices."""

    to_name: str = Field(examples=["text"])
    """What they are about."""

    type: Literal["choices"] = "choices"
    """Always."""

    value: dict[str, list[str]] = Field(examples=[{"choices": ["hats"]}])
    """The class."""

    score: float = Field(examples=[0.95])
    """Confidence of the prediction, as in `POST /v1/predict`."""


class TaskAnswer(Ready):
    """The answer for one task."""

    result: list[Mark]
    """One mark; none where the task names no node of the graph."""

    score: float = Field(examples=[0.95])
    """Confidence of the prediction: Label Studio can begin with the lowest."""


class TaskAnswers(Ready):
    """Answers in the order of the tasks."""

    results: list[TaskAnswer]
    """One for each."""


async def _once(event: Event, writing: Writes, request: Request) -> Writing:
    """Recognise an event that is delivered a second time, although Label Studio sends no key.

    An event that says when it happened is the same one if all of it is the same; an older one than
    that which gave the node its label moves no label. One that does not may also be a return to an
    earlier class: it is applied, which changes nothing if the node has the class already.
    """
    said = event.annotation if isinstance(event.annotation, list) else [event.annotation]
    key = event_key((annotation.updated_at for annotation in said), writing.wanted.content)
    if "idempotency-key" in request.headers or key is None:
        return writing
    return replace(writing, wanted=replace(writing.wanted, key=key))


EventWriting = Annotated[Writing, Depends(_once)]


@READING.get("/health")
async def health(service: Served) -> Up:
    """Whether questions can be answered."""
    return Up(model_class=service.now.state.model.name)


@READING.post("/setup")
async def set_up(service: Served) -> Ready:
    """Which version answers; nothing has to be set up."""
    return Ready(model_version=str(service.now.version))


@READING.post("/predict")
def predict(asked: Asked, service: Served) -> TaskAnswers:
    """The class of the node of each task."""
    live, names = service.now, _names(asked.label_config)
    graph, number = live.state.graph, str(live.version)
    keys = [_key(graph, task) for task in asked.tasks]
    rows = graph.node_keys.find([0 if key is None else key for key in keys])
    rows[np.array([key is None for key in keys], dtype=bool)] = -1
    found = predict_rows(live.state, rows[rows >= 0], live.version)
    # Predictions also of labelled nodes: Label Studio shows annotations beside them.
    predicted = iter(zip(found.top, found.confidence.tolist(), strict=True))
    results = []
    for row in rows.tolist():
        if row < 0:
            results.append(TaskAnswer(result=[], score=0.0, model_version=number))
            continue
        classes, score = next(predicted)
        mark = Mark(
            from_name=names[0], to_name=names[1], value={"choices": classes[:1]}, score=score
        )
        results.append(TaskAnswer(result=[mark], score=score, model_version=number))
    return TaskAnswers(results=results, model_version=number)


@TEACHING.post("/webhook", status_code=201)
async def happened(event: Event, writing: EventWriting) -> Ready:
    """An annotation becomes a label; other events change nothing."""
    return await _taught(writing, event.said, moves=event.action == UPDATED)


@TEACHING.post("/train", status_code=201)
async def train(told: AnnotatedTasks, writing: Writes) -> Ready:
    """All annotations of nodes that have no label yet become labels: one version."""
    said = [
        (task.data.key, annotation.name, annotation.updated_at)
        for task in told.annotations
        for annotation in task.annotations
    ]
    return await _taught(writing, said, moves=False)


async def _taught(
    writing: Writing, said: list[tuple[Any, str | None, str | None]], moves: bool
) -> Ready:
    labels = {key: (name, time) for key, name, time in said if key is not None and name is not None}
    version = await writing.done(partial(_labelled, labels, moves), note="Label Studio")
    return Ready(model_version=str(version.number))


def _labelled(
    labels: dict[Any, tuple[str, str | None]], moves: bool, store: Store, intent: Intent
) -> Version:
    """A version with these labels; the newest one where that has them already."""
    # Nobody reads a refusal of a webhook: while a candidate waits, the label is added to it.
    intent = replace(intent, promote=intent.promote and store.waiting() is None)
    state = store.state(store.candidate)
    said = {key_in(state.graph, str(key)): value for key, value in labels.items()}
    wanted = {key: name for key, (name, _) in said.items()}
    owners = state.labels.owners()
    new = {key: name for key, name in wanted.items() if key not in owners}
    moved = {key: name for key, name in wanted.items() if owners.get(key, name) != name}
    if new:
        return store.change(Change("label", {"more": _by_class(new)}), intent=intent)
    if moved and moves:
        late = delivered_late(store.history(), {key: said[key][1] for key in moved})
        moved = {key: name for key, name in moved.items() if key not in late}
    if moved and moves:
        return store.change(Change("relabel", {"classes": _by_class(moved)}), intent=intent)
    return store.version()


def _by_class(labels: dict[Key, str]) -> dict[str, list[Key]]:
    return {
        name: [key for key, other in labels.items() if other == name]
        for name in dict.fromkeys(labels.values())
    }


def _key(graph: Graph, task: Task) -> Key | None:
    try:
        return None if task.data.key is None else key_in(graph, str(task.data.key))
    except DataError:
        return None


def _names(label_config: str) -> tuple[str, str]:
    """What the choices are called, and what they are about. No parser of XML is let near it."""
    first, *rest = label_config.split("<!--")
    # A comment may hold choices of old.
    shown = first + "".join(part.partition("-->")[2] for part in rest)
    for found in _CHOICES.finditer(shown):
        attributes = dict(_ATTRIBUTE.findall(found[1]))
        if attributes.keys() >= {"name", "toName"}:
            return attributes["name"], attributes["toName"]
    told = "The labelling interface has no Choices with a name and a toName."
    raise HttpError(422, "no_choices", told, "Add <Choices name=… toName=…> to the project.")

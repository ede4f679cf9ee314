"""Request and response models of Label Studio."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from nodegraft.service.auth.limits import MAX_KEYS
from nodegraft.service.errors import HttpError
from nodegraft.service.schemas import Model, NodeKey, Text

CREATED, UPDATED = "ANNOTATION_CREATED", "ANNOTATION_UPDATED"
LABEL_EVENTS = (CREATED, "ANNOTATIONS_CREATED", UPDATED)
"""Events with labels; the second event has lists of tasks and annotations."""


class LabelStudioModel(BaseModel):
    """Base of Label Studio's models, which have many more fields than are needed here."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)


class Choice(LabelStudioModel):
    """Value of a region: the chosen classes."""

    choices: list[Text] = []
    """Class names."""


class Region(LabelStudioModel):
    """Region: one part of an annotation."""

    type: Text = ""
    """Type of the region; only `choices` has class names."""

    value: Choice = Choice()
    """Value with the chosen classes."""


class Annotation(LabelStudioModel):
    """Annotation of a task."""

    result: list[Region] | None = None
    """Regions of the annotation; Label Studio sends null if there are none."""

    was_cancelled: bool = False
    """Whether the task was skipped."""

    updated_at: Text | None = None
    """Time of the last change, as Label Studio writes it."""

    @property
    def name(self) -> str | None:
        """Chosen class; None unless exactly one class was chosen."""
        choices = [region.value.choices for region in self.result or () if region.type == "choices"]
        is_single = not self.was_cancelled and len(choices) == 1 and len(choices[0]) == 1
        return choices[0][0] if is_single else None


class TaskData(LabelStudioModel):
    """Data of a task."""

    key: NodeKey | None = Field(default=None, examples=["p7"])
    """Node key."""


class Task(LabelStudioModel):
    """Labelling task of Label Studio."""

    data: TaskData = TaskData()
    """Data of the task."""

    annotations: list[Annotation] = []
    """Annotations of the task, oldest first."""


Tasks = Annotated[list[Task], Field(max_length=MAX_KEYS)]


class TasksToPredict(LabelStudioModel):
    """Request to predict the classes of tasks."""

    tasks: Tasks
    """List of tasks."""

    label_config: Text = Field(
        examples=[
            '<View><Text name="text" value="$text"/><Choices name="class" toName="text"/></View>'
        ]
    )
    """Labelling interface of the project; the first `Choices` are the classes."""


TaskLabel = tuple[NodeKey | None, str | None, str | None]
"""Node key, class and time of an annotation; each is None if it is missing."""


def task_label(task: Task, annotation: Annotation) -> TaskLabel:
    """Return node key, class and time of an annotation."""
    return task.data.key, annotation.name, annotation.updated_at


class Event(LabelStudioModel):
    """Event that Label Studio sends about a project."""

    action: Text = Field(examples=[CREATED])
    """Type of the event."""

    task: Task | Tasks = []
    """Task of the annotation; a list if several annotations were made at once."""

    annotation: Annotation | list[Annotation] = []
    """Annotation of each task."""

    def annotations(self) -> list[Annotation]:
        """Return the annotations as a list."""
        return self.annotation if isinstance(self.annotation, list) else [self.annotation]

    def labels(self) -> list[TaskLabel]:
        """Return the label of each task."""
        if self.action not in LABEL_EVENTS:
            return []
        tasks = self.task if isinstance(self.task, list) else [self.task]
        annotations = self.annotations()
        if len(tasks) != len(annotations):
            message = f"There are {len(annotations)} annotations, and {len(tasks)} tasks."
            raise HttpError(422, "unpaired", message, "Send the task of each annotation.")
        return list(map(task_label, tasks, annotations))


class AnnotatedTasks(LabelStudioModel):
    """Tasks with all their annotations."""

    annotations: Tasks
    """List of tasks."""


class Health(Model):
    """Response of a service that is ready."""

    status: Literal["UP"] = "UP"
    """Always `UP`."""

    model_class: str = Field(examples=["graft"])
    """Method of the model."""


class ModelVersion(Model):
    """Live version, or the version that the request made."""

    model_version: str = Field(examples=["3"])
    """Number of the version."""


class PredictedRegion(Model):
    """Predicted class, as Label Studio shows it."""

    from_name: str = Field(examples=["class"])
    """Name of the Choices tag in the labelling configuration."""

    to_name: str = Field(examples=["text"])
    """Name of the object tag that the choices label."""

    type: Literal["choices"] = "choices"
    """Always `choices`."""

    value: dict[str, list[str]] = Field(examples=[{"choices": ["hats"]}])
    """Predicted class."""

    score: float = Field(examples=[0.95])
    """Confidence of the prediction, as in `POST /v1/predict`."""


class TaskPrediction(ModelVersion):
    """Prediction for one task."""

    result: list[PredictedRegion]
    """One region; none if the task has no node of the graph."""

    score: float = Field(examples=[0.95])
    """Confidence of the prediction: Label Studio can sort tasks by it, to show uncertain
    predictions first."""


class TaskPredictions(ModelVersion):
    """Predictions in the order of the tasks."""

    results: list[TaskPrediction]
    """One prediction for each task, in the order of the tasks."""

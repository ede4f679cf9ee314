"""One run as data: dataset, method and protocol; and an estimate of its time from records."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from statistics import median
from typing import Any, Literal

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.hashing import content_hash
from nodegraft.base.parameters.build import build
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.base.parameters.validate import validate
from nodegraft.evaluation.protocol import STRICT, UPPER_REFERENCE, evaluate
from nodegraft.evaluation.published import PUBLISHED, Ingredients, evaluate_published
from nodegraft.evaluation.sealed.method import SEALED, SealedMethod, evaluate_sealed
from nodegraft.lab.benchmark.record import RunRecord, make_record, this_code
from nodegraft.lab.datasets.templates.dataset import REGISTRY as DATASETS
from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset, label_folders
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY as METHODS
from nodegraft.model.registry import MethodDescription
from nodegraft.streams.arrival import Arrival
from nodegraft.streams.stream import STREAM_VERSION, ClassStream

Protocol = Literal["strict", "published"]

PUBLIC_SEEDS = 1000
"""Split seeds below this are public: anybody can try all of them."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What ``nodegraft lab run`` is asked.

    >>> Job(dataset="synthetic", method="sgc-mean", seed=3).title
    'sgc-mean on synthetic, seed 3'
    """

    dataset: str
    """The name of the dataset."""

    method: str
    """The name of the method."""

    seed: NonNegativeInt = 0
    """Draws the split; its last three digits are the seed of the method."""

    node_seed: NonNegativeInt | None = None
    """Draws which nodes teach, apart from the roles of classes; None takes ``seed``."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Hyper-parameters that are not as by default."""

    dataset_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the dataset that are not as by default."""

    ways: PositiveInt | None = None
    """New classes a session; None takes the dataset's own."""

    shots: PositiveInt | None = None
    """Labels of each new class; None takes the dataset's own."""

    least_shots: PositiveInt | None = None
    """If given, each new class has a number of labels of its own, drawn from this to ``shots``."""

    arrival: Arrival = "growing"
    """Which nodes exist in a session."""

    protocol: Protocol = "strict"
    """How it is evaluated; ``"published"`` is leaky."""

    without: Sequence[str] = ()
    """Ingredients of the published protocol that are left out; see
    :class:`nodegraft.evaluation.published.Ingredients`."""

    rehearse: bool = False
    """Whether the validation classes are taught instead, to choose settings."""

    sealed: bool = False
    """Whether the method runs in a process of its own, without network and data."""

    stream_version: PositiveInt = STREAM_VERSION
    """How streams are drawn. Those of an earlier version can be looked up, not run."""

    def __post_init__(self) -> None:
        validate(self)
        if "seed" in self.parameters:
            raise ParameterError("The seed of a run is not set as a parameter: use its seed.")
        if self.without and self.protocol == "strict":
            raise ParameterError("The strict protocol has nothing to be left out.")
        if self.sealed and self.protocol != "strict":
            raise ParameterError(
                "The published protocol gives query labels to the method: it cannot be sealed."
            )
        Ingredients.without(self.without)

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.method} on {self.dataset}, seed {self.seed}"

    @property
    def key(self) -> str:
        """A hash of what is asked; two spellings of one job have two keys, and one record."""
        return content_hash(asdict(self))

    @property
    def protocol_name(self) -> str:
        """As records and tables name it."""
        reference = f", {UPPER_REFERENCE}" if self.description.many_shot else ""
        sealed = f", {SEALED}" if self.sealed else ""
        rehearsal = ", rehearsal" if self.rehearse else ""
        off = sorted(Ingredients.without(self.without).left_out)
        missing = f", without {' '.join(off)}" if off else ""
        name = STRICT if self.protocol == "strict" else PUBLISHED + missing
        return name + reference + rehearsal + sealed

    @property
    def method_seed(self) -> int:
        """Seed of the method. It does not reveal a split's seed of more than three digits."""
        return self.seed % PUBLIC_SEEDS

    @cached_property
    def description(self) -> MethodDescription:
        """Name and parameters of the method; a sealed one describes itself in its own process."""
        if not self.sealed:
            return MethodDescription.of(self.make_model())
        described = _sealed_description(self.method, json.dumps(self.parameters, sort_keys=True))
        return replace(described, parameters=described.parameters | {"seed": self.method_seed})

    def make_model(self) -> Method:
        """The method, not yet taught."""
        return build(METHODS.get(self.method), {"seed": self.method_seed, **self.parameters})

    def _sealed_method(self, forbidden: Sequence[str | Path] = ()) -> SealedMethod:
        return SealedMethod(
            self.method, seed=self.method_seed, parameters=self.parameters, forbidden=forbidden
        )

    def make_dataset(self) -> Dataset:
        """Return the dataset with its options, before its files are read."""
        return build(DATASETS.get(self.dataset), self.dataset_options)

    def load(self, data: str | Path | None = None) -> LoadedDataset:
        """Load the dataset of the job."""
        return self.make_dataset().load(data)

    def stream(self, loaded: LoadedDataset) -> ClassStream:
        """Draw the stream of sessions of the job from its dataset."""
        sizes = {"ways": self.ways, "shots": self.shots, "least_shots": self.least_shots}
        wanted_sizes = {name: size for name, size in sizes.items() if size is not None}
        setting = replace(loaded.setting, **wanted_sizes)
        if self.stream_version != STREAM_VERSION:
            raise ParameterError(
                f"{self.title}: streams of version {self.stream_version} are history, this "
                f"nodegraft draws those of version {STREAM_VERSION}: leave stream_version out."
            )
        stream = loaded.stream(
            seed=self.seed,
            arrival=self.arrival,
            setting=setting,
            many_shot=self.description.many_shot,
            node_seed=self.node_seed,
        )
        return stream.rehearsal() if self.rehearse else stream

    def run(
        self,
        loaded: LoadedDataset,
        stream: ClassStream,
        listener: Listener = SILENT,
        data: str | Path | None = None,
    ) -> RunRecord:
        """Teach, measure, and put it on record.

        Args:
            data: The folder that holds the data folders, which a sealed method must not read.
        """
        this_code()  # before the run: files may be edited while it goes on
        description, name, isolation = self.description, self.protocol_name, None
        if self.sealed:
            with self._sealed_method(label_folders(data)) as method:
                result = evaluate_sealed(method, stream, listener=listener)
                isolation = method.isolation
        elif self.protocol == "strict":
            result = evaluate(self.make_model(), stream, listener=listener)
        else:
            chosen = Ingredients.without(self.without)
            result = evaluate_published(
                self.make_model(), stream, ingredients=chosen, listener=listener
            )
        return make_record(description, loaded, stream, result, name, isolation)

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Whether a record tells the result of this job.

        Parameters that the method got since the record was made must be as by default; one that it
        had then and has no more must have been as by default then.
        """
        setting, default = document["setting"], document["default_setting"]
        size = (
            default["ways"] if self.ways is None else self.ways,
            default["shots"] if self.shots is None else self.shots,
            default["least_shots"] if self.least_shots is None else self.least_shots,
        )
        if size != (setting["ways"], setting["shots"], setting["least_shots"]):
            return False
        if any(document[name] != value for name, value in self._asked.items()):
            return False
        ours, defaults = self._parameters
        theirs = document["parameters"]
        same = all(value == theirs.get(name, defaults[name]) for name, value in ours.items())
        return same and document["changed_parameters"].keys() <= ours.keys()

    @cached_property
    def _asked(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "dataset": self.dataset,
            "seed": self.seed,
            "node_seed": self.seed if self.node_seed is None else self.node_seed,
            "stream_version": self.stream_version,
            "arrival": self.arrival,
            "protocol": self.protocol_name,
            "dataset_options": asdict(self.make_dataset()),
        }

    @cached_property
    def _parameters(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """This job's, and the default ones."""
        return self.description.parameters, self.description.defaults


@cache
def _sealed_description(method: str, parameters: str) -> MethodDescription:
    # A suite has many jobs of one method: starting a process for each would take minutes.
    with SealedMethod(method, parameters=json.loads(parameters)) as sealed:
        return sealed.description


class Estimates:
    """Medians over records of one dataset and method; seeds and small settings hardly matter.

    >>> Estimates([]).seconds(Job(dataset="synthetic", method="graft")) is None
    True

    Args:
        records: What earlier runs say.
    """

    def __init__(self, records: Iterable[Mapping[str, Any]]) -> None:
        seen = defaultdict(list)
        for record in records:
            seen[record["dataset"], record["method"]].append(_seconds(record))
        self._medians = {like: median(seconds) for like, seconds in seen.items()}

    def seconds(self, job: Job) -> float | None:
        """Return the median seconds of a job like this; None without a record of one."""
        return self._medians.get((job.dataset, job.method))

    def total(self, jobs: Iterable[Job]) -> tuple[float, int]:
        """Seconds of all jobs one after the other, and how many of them nothing is known about.

        Those count as much as the others on average.
        """
        each = [self.seconds(job) for job in jobs]
        known = [seconds for seconds in each if seconds is not None]
        average = sum(known) / len(known) if known else 0.0
        return average * len(each), len(each) - len(known)


def _seconds(record: Mapping[str, Any]) -> float:
    return float(
        sum(session["seconds"] + session["query_seconds"] for session in record["sessions"])
    )

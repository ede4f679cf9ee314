"""Jobs: inputs of a benchmark run, and estimates of its duration from earlier records."""

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
"""Split seeds below this number are public: anybody can try all of them."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """Inputs of one benchmark run; ``nodegraft lab run`` has options for them.

    >>> Job(dataset="synthetic", method="sgc-mean", seed=3).title
    'sgc-mean on synthetic, seed 3'
    """

    dataset: str
    """Name of the dataset."""

    method: str
    """Name of the method."""

    seed: NonNegativeInt = 0
    """Seed of the split; its last three digits are the seed of the method."""

    node_seed: NonNegativeInt | None = None
    """Seed that selects labelled nodes, but not the roles of classes; None uses ``seed``."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Hyper-parameters that differ from their defaults."""

    dataset_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the dataset that differ from their defaults."""

    ways: PositiveInt | None = None
    """Number of new classes per session; None uses the dataset's setting."""

    shots: PositiveInt | None = None
    """Number of labels of each new class; None uses the dataset's setting."""

    least_shots: PositiveInt | None = None
    """Minimum number of labels of a new class, drawn up to ``shots``; None for always ``shots``."""

    arrival: Arrival = "growing"
    """Arrival of nodes: which nodes are visible in each session."""

    protocol: Protocol = "strict"
    """Evaluation protocol; ``"published"`` is leaky."""

    without: Sequence[str] = ()
    """Ingredients that are off, see :class:`nodegraft.evaluation.published.Ingredients`."""

    rehearse: bool = False
    """Whether validation classes replace novel classes, to choose hyper-parameters."""

    sealed: bool = False
    """Whether the method runs in a separate process, without network and data."""

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
        """Human-readable title of the job."""
        return f"{self.method} on {self.dataset}, seed {self.seed}"

    @property
    def key(self) -> str:
        """Hash of the job's fields.

        Jobs with equal meaning but different fields have different keys, but share a record.
        """
        return content_hash(asdict(self))

    @property
    def protocol_name(self) -> str:
        """Name of the protocol in records and tables."""
        reference = f", {UPPER_REFERENCE}" if self.description.many_shot else ""
        sealed = f", {SEALED}" if self.sealed else ""
        rehearsal = ", rehearsal" if self.rehearse else ""
        off = sorted(Ingredients.without(self.without).left_out)
        missing = f", without {' '.join(off)}" if off else ""
        name = STRICT if self.protocol == "strict" else PUBLISHED + missing
        return name + reference + rehearsal + sealed

    @property
    def method_seed(self) -> int:
        """Seed of the method. A split seed of more than three digits cannot be derived from it."""
        return self.seed % PUBLIC_SEEDS

    @cached_property
    def description(self) -> MethodDescription:
        """Name and parameters of the method; a sealed method returns them from its own process."""
        if not self.sealed:
            return MethodDescription.of(self.make_model())
        described = _sealed_description(self.method, json.dumps(self.parameters, sort_keys=True))
        return replace(described, parameters=described.parameters | {"seed": self.method_seed})

    def make_model(self) -> Method:
        """Return the untrained method of the job."""
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
        """Train and evaluate the method, and return the record of the run.

        Args:
            data: Folder that holds the data folders, which a sealed method must not read.
        """
        this_code()  # Hash the code before the run, because files may be edited during it.
        description, name, isolation = self.description, self.protocol_name, None
        if self.sealed:
            with self._sealed_method(label_folders(data)) as method:
                result = evaluate_sealed(method, stream, listener=listener)
                isolation = method.isolation
        elif self.protocol == "strict":
            result = evaluate(self.make_model(), stream, listener=listener)
        else:
            options = Ingredients.without(self.without)
            result = evaluate_published(
                self.make_model(), stream, ingredients=options, listener=listener
            )
        return make_record(description, loaded, stream, result, name, isolation)

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Return whether a record holds the result of this job.

        If a parameter was added after the record was made, the job must have its default value. If
        a parameter was removed since then, the record must have its former default value.
        """
        setting, default = document["setting"], document["default_setting"]
        size = (
            default["ways"] if self.ways is None else self.ways,
            default["shots"] if self.shots is None else self.shots,
            default["least_shots"] if self.least_shots is None else self.least_shots,
        )
        if size != (setting["ways"], setting["shots"], setting["least_shots"]):
            return False
        if any(document[name] != value for name, value in self._identity.items()):
            return False
        ours, defaults = self._parameters
        theirs = document["parameters"]
        same = all(value == theirs.get(name, defaults[name]) for name, value in ours.items())
        return same and document["changed_parameters"].keys() <= ours.keys()

    @cached_property
    def _identity(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "dataset": self.dataset,
            "seed": self.seed,
            "node_seed": self.seed if self.node_seed is None else self.node_seed,
            "stream_version": STREAM_VERSION,
            "arrival": self.arrival,
            "protocol": self.protocol_name,
            "dataset_options": asdict(self.make_dataset()),
        }

    @cached_property
    def _parameters(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Parameters of this job, and the default parameters."""
        return self.description.parameters, self.description.defaults


@cache
def _sealed_description(method: str, parameters: str) -> MethodDescription:
    # Cache the result: a suite has many jobs of one method, and a process for each would take
    # minutes.
    with SealedMethod(method, parameters=json.loads(parameters)) as sealed:
        return sealed.description


class Estimates:
    """Estimates of durations: median seconds of earlier runs by dataset and method.

    Seeds and small differences of settings have little effect on durations.

    >>> Estimates([]).seconds(Job(dataset="synthetic", method="graft")) is None
    True

    Args:
        records: Records of earlier runs.
    """

    def __init__(self, records: Iterable[Mapping[str, Any]]) -> None:
        groups_of = defaultdict(list)
        for record in records:
            groups_of[record["dataset"], record["method"]].append(_seconds(record))
        self._medians = {like: median(seconds) for like, seconds in groups_of.items()}

    def seconds(self, job: Job) -> float | None:
        """Return a job's estimated seconds; None without records of its dataset and method."""
        return self._medians.get((job.dataset, job.method))

    def total(self, jobs: Iterable[Job]) -> tuple[float, int]:
        """Return the total seconds of jobs that run in sequence, and the number without estimate.

        For a job without estimate, the average of the other jobs is used.
        """
        each = [self.seconds(job) for job in jobs]
        known = [seconds for seconds in each if seconds is not None]
        average = sum(known) / len(known) if known else 0.0
        return average * len(each), len(each) - len(known)


def _seconds(record: Mapping[str, Any]) -> float:
    return float(
        sum(session["seconds"] + session["query_seconds"] for session in record["sessions"])
    )

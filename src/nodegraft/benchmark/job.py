"""One run as data: what is taught to which method, and how it is judged."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.hashing import content_hash
from nodegraft.base.parameters import build
from nodegraft.benchmark.protocol import CEILING, STRICT, evaluate
from nodegraft.benchmark.published import PUBLISHED, evaluate_published
from nodegraft.benchmark.results import RunRecord, make_record
from nodegraft.datasets.base import REGISTRY as DATASETS
from nodegraft.datasets.base import Dataset, LoadedDataset
from nodegraft.graph.split import ClassSplit
from nodegraft.graph.stream import Arrival, ClassStream
from nodegraft.methods.base import REGISTRY as METHODS
from nodegraft.methods.base import Method

PROTOCOLS = {"strict": (STRICT, evaluate), "published": (PUBLISHED, evaluate_published)}


@dataclass(frozen=True, kw_only=True)
class Job:
    """What ``nodegraft run`` is asked; what is not given follows method and dataset.

    >>> Job(dataset="synthetic", method="sgc-mean", seed=3).title
    'sgc-mean on synthetic, seed 3'
    """

    dataset: str
    method: str
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    dataset_options: Mapping[str, Any] = field(default_factory=dict)
    ways: int | None = None
    shots: int | None = None
    arrival: Arrival = "with-class"
    protocol: str = "strict"
    rehearse: bool = False

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise ParameterError(f"protocol is 'strict' or 'published', not {self.protocol!r}.")

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
        ceiling = f", {CEILING}" if METHODS.get(self.method).many_shot else ""
        rehearsal = ", rehearsal" if self.rehearse else ""
        return PROTOCOLS[self.protocol][0] + ceiling + rehearsal

    def model(self) -> Method:
        """The method, not yet taught."""
        return build(METHODS.get(self.method), {"seed": self.seed, **self.parameters})

    def source(self) -> Dataset:
        """Where the dataset comes from, with its options."""
        return build(DATASETS.get(self.dataset), self.dataset_options)

    def load(self, data: str | Path | None = None) -> LoadedDataset:
        """The dataset it is about."""
        return self.source().load(data)

    def stream(self, loaded: LoadedDataset) -> ClassStream:
        """The sessions."""
        ways, shots = self.ways or loaded.setting.ways, self.shots or loaded.setting.shots
        setting = replace(loaded.setting, ways=ways, shots=shots)
        many = METHODS.get(self.method).many_shot
        split = ClassSplit.draw(loaded.labels, setting, self.seed, loaded.groups, many_shot=many)
        stream = ClassStream(loaded.graph, split, arrival=self.arrival)
        return stream.rehearsal() if self.rehearse else stream

    def run(
        self, loaded: LoadedDataset, stream: ClassStream, listener: Listener = SILENT
    ) -> RunRecord:
        """Teach, measure, and put it on record."""
        model = self.model()
        trace = PROTOCOLS[self.protocol][1](model, stream, listener=listener)
        return make_record(model, loaded, stream, trace, self.protocol_name)

    def is_recorded_by(self, document: Mapping[str, Any]) -> bool:
        """Whether a record tells the result of this job."""
        setting, default = document["setting"], document["default_setting"]
        size = (self.ways or default["ways"], self.shots or default["shots"])
        asked = all(document[name] == value for name, value in self._asked.items())
        return asked and size == (setting["ways"], setting["shots"])

    @cached_property
    def _asked(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "dataset": self.dataset,
            "seed": self.seed,
            "arrival": self.arrival,
            "protocol": self.protocol_name,
            "parameters": self.model().parameters(),
            "dataset_options": asdict(self.source()),
        }

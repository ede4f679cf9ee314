"""Results of benchmark commands."""

from dataclasses import dataclass
from typing import Any, ClassVar

from nodegraft.analysis.results.result import Result


@dataclass(frozen=True)
class EdgeType:
    """Edges of one type.

    Args:
        name: Name of the type.
        edges: Number of undirected edges.
        directed: Whether they have a direction.
        weighted: Whether they have weights.
        homophily: Share of edges between labelled nodes that join two of one class.
        adjusted_homophily: Homophily adjusted for chance: 0 where edges ignore classes.
    """

    name: str
    edges: int
    directed: bool
    weighted: bool
    homophily: float
    adjusted_homophily: float


@dataclass(frozen=True)
class DatasetInfo(Result):
    """Description of a dataset.

    Args:
        dataset: Its name.
        summary: What it is.
        citation: Where it is from.
        nodes: Number of nodes.
        isolated: Number of nodes without an edge.
        edges: Number of undirected edges.
        features: Number of features.
        features_per_node: Mean number of features of a node that are not zero.
        classes: Number of classes.
        smallest_class: Number of nodes of the smallest class.
        median_class: Median of the sizes of classes.
        largest_class: Number of nodes of the largest class.
        degree_quantiles: Quantile -> degree.
        homophily: Share of edges between labelled nodes that join two of one class.
        adjusted_homophily: Homophily adjusted for chance.
        edge_types: Edges of each type.
        setting: Default numbers of classes of each role, of classes per session, and of labels.
        content_hash: Hash of its graph and labels.
        notes: What a reader of its results must know.
    """

    TABLE: ClassVar[str] = "edge_types"

    dataset: str
    summary: str
    citation: str
    nodes: int
    isolated: int
    edges: int
    features: int
    features_per_node: float
    classes: int
    smallest_class: int
    median_class: int
    largest_class: int
    degree_quantiles: dict[str, int]
    homophily: float
    adjusted_homophily: float
    edge_types: list[EdgeType]
    setting: dict[str, Any]
    content_hash: str
    notes: list[str]


@dataclass(frozen=True)
class Method:
    """A registered method.

    Args:
        method: Its name.
        summary: What it does.
        capabilities: Optional capabilities.
        citation: Where it is from.
    """

    method: str
    summary: str
    capabilities: list[str]
    citation: str


@dataclass(frozen=True)
class Methods(Result):
    """All methods.

    Args:
        methods: The methods.
    """

    TABLE: ClassVar[str] = "methods"

    methods: list[Method]


@dataclass(frozen=True)
class Dataset:
    """A registered dataset.

    Args:
        dataset: Its name.
        summary: What it is.
        found: Whether its files are present, or none are needed.
        missing: The files that it needs, if they were not found.
    """

    dataset: str
    summary: str
    found: bool
    missing: list[str]


@dataclass(frozen=True)
class Datasets(Result):
    """All datasets.

    Args:
        datasets: The datasets.
    """

    TABLE: ClassVar[str] = "datasets"

    datasets: list[Dataset]


@dataclass(frozen=True)
class Run(Result):
    """Run of a method on a dataset. A table has the sessions of the record.

    Args:
        file: File of the record.
        record: The record: parameters, sessions, summary and machine; without the classes.
        sessions: Sessions of the record.
    """

    TABLE: ClassVar[str] = "sessions"

    file: str
    record: dict[str, Any]
    sessions: list[dict[str, Any]]


@dataclass(frozen=True)
class SuiteRun(Result):
    """Jobs of a suite.

    Args:
        title: Title of the suite.
        jobs: Number of jobs of the suite.
        done: Number of jobs that have a record.
        to_run: Number of jobs that are still to run.
        failed: Number of jobs that failed now or before.
        seconds: Estimated seconds of the jobs that were to run, in one process.
        without_estimate: Number of these jobs without an estimate.
    """

    title: str
    jobs: int
    done: int
    to_run: int
    failed: int
    seconds: float
    without_estimate: int


@dataclass(frozen=True)
class QueryResult(Result):
    """Result of a query over run records.

    Args:
        rows: An object for each row; its fields are the columns of the query.
    """

    TABLE: ClassVar[str] = "rows"

    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class AccuracyMatrix(Result):
    """Accuracy of a run by session and group of classes.

    Args:
        run: Name of the record.
        anytime_accuracy: Mean over sessions of the mean accuracy on all groups so far.
        last_accuracy: Mean accuracy on all groups after the last session.
        backward_transfer: Mean over earlier groups of their last accuracy minus that in their own
            session; null with one session.
        rows: An object for each session; "session", then "group I" with the macro accuracy on the
            classes that arrived in session I, or null before they arrived.
    """

    TABLE: ClassVar[str] = "rows"

    run: str
    anytime_accuracy: float
    last_accuracy: float
    backward_transfer: float | None
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Compacted(Result):
    """Packed run records.

    Args:
        records: Number of records.
        files: Names of the Parquet files.
    """

    records: int
    files: list[str]


@dataclass(frozen=True)
class SuiteTables(Result):
    """Tables of a suite.

    Args:
        markdown: The tables as Markdown.
    """

    markdown: str


@dataclass(frozen=True)
class Page(Result):
    """Report on run records.

    Args:
        page: Its first page.
    """

    page: str


@dataclass(frozen=True)
class Trial:
    """Best trial of a search on a dataset.

    Args:
        dataset: Name of the dataset.
        score: Harmonic mean of accuracies on validation classes.
        parameters: Values that were chosen.
    """

    dataset: str
    score: float
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Tuning(Result):
    """Parameters chosen on validation classes.

    Args:
        file: File with all trials.
        best: The best trial of each dataset.
        advice: Parameters whose best value is at the edge of its list.
    """

    TABLE: ClassVar[str] = "best"

    file: str
    best: list[Trial]
    advice: list[str]


@dataclass(frozen=True)
class Checked(Result):
    """Checks that a method passed.

    Args:
        method: Name of the method.
        checks: Names of the checks.
    """

    method: str
    checks: list[str]


@dataclass(frozen=True)
class MapFile(Result):
    """Positions of nodes in the plane.

    Args:
        file: File of the map.
    """

    file: str

"""Results of benchmark commands."""

from dataclasses import dataclass
from typing import Any, ClassVar

from nodegraft.analysis.results.result import Result


@dataclass(frozen=True)
class EdgeType:
    """Edge type of a dataset, with counts and homophily.

    Args:
        name: Name of the edge type.
        edges: Number of undirected edges of this type.
        directed: Whether the edges have a direction.
        weighted: Whether the edges have weights.
        homophily: Share of edges that join two nodes of one class, among edges between labelled
            nodes.
        adjusted_homophily: Homophily adjusted for chance: 0 if edges do not depend on classes.
    """

    name: str
    edges: int
    directed: bool
    weighted: bool
    homophily: float
    adjusted_homophily: float


@dataclass(frozen=True)
class DatasetInfo(Result):
    """Description and statistics of a dataset.

    Args:
        dataset: Name of the dataset.
        summary: Short description of the dataset.
        citation: Publication or source of the dataset.
        licence: Licence of the dataset; empty if it is not known.
        nodes: Number of nodes.
        isolated: Number of nodes without an edge.
        edges: Number of node pairs with an edge; edges of several types between two nodes count
            once.
        features: Number of features.
        features_per_node: Mean number of non-zero features per node.
        classes: Number of classes.
        smallest_class: Number of nodes in the smallest class.
        median_class: Median number of nodes per class.
        largest_class: Number of nodes in the largest class.
        degree_quantiles: Quantile -> node degree.
        homophily: Share of edges that join two nodes of one class, among edges between labelled
            nodes.
        adjusted_homophily: Homophily adjusted for chance: 0 if edges do not depend on classes.
        edge_types: Statistics of each edge type.
        setting: Default numbers of base, pseudo-novel, validation and novel classes, of new classes
            per session, and of labels per new class.
        content_hash: Hash of the dataset's graph and labels.
        notes: Notes that readers of results on this dataset need.
    """

    TABLE: ClassVar[str] = "edge_types"

    dataset: str
    summary: str
    citation: str
    licence: str
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
    """Registered method.

    Args:
        method: Name of the method.
        summary: Short description of the method.
        capabilities: Optional capabilities of the method.
        citation: Publication that introduced the method.
    """

    method: str
    summary: str
    capabilities: list[str]
    citation: str


@dataclass(frozen=True)
class Methods(Result):
    """List of all registered methods.

    Args:
        methods: All registered methods.
    """

    TABLE: ClassVar[str] = "methods"

    methods: list[Method]


@dataclass(frozen=True)
class Dataset:
    """Registered dataset.

    Args:
        dataset: Name of the dataset.
        summary: Short description of the dataset.
        found: Whether the dataset's files are present; true if it needs no files.
        missing: Files that the dataset needs and that were not found.
    """

    dataset: str
    summary: str
    found: bool
    missing: list[str]


@dataclass(frozen=True)
class Datasets(Result):
    """List of all registered datasets.

    Args:
        datasets: All registered datasets.
    """

    TABLE: ClassVar[str] = "datasets"

    datasets: list[Dataset]


@dataclass(frozen=True)
class Run(Result):
    """Run of a method on a dataset. The table output has a row for each session.

    Args:
        file: Path of the run record.
        record: Run record without its classes: parameters, sessions, summary and machine.
        sessions: Sessions of the run.
    """

    TABLE: ClassVar[str] = "sessions"

    file: str
    record: dict[str, Any]
    sessions: list[dict[str, Any]]


@dataclass(frozen=True)
class SuiteRun(Result):
    """Job counts of a suite, after its run or for a dry run.

    Args:
        title: Title of the suite.
        jobs: Number of jobs in the suite.
        done: Number of jobs that have a run record.
        to_run: Number of jobs that are still to run.
        failed: Number of jobs that failed in this run or an earlier one.
        seconds: Estimated duration, in seconds, of the jobs that were to run, in one process.
        without_estimate: Number of jobs that were to run and have no estimated duration.
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
    """Result of an SQL query over run records.

    Args:
        rows: JSON object for each row; its fields are the columns of the query.
    """

    TABLE: ClassVar[str] = "rows"

    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class AccuracyMatrix(Result):
    """Accuracy of a run by session and by group of classes that arrived together.

    Args:
        run: Name of the run record.
        anytime_accuracy: Mean over sessions of the mean accuracy on all groups that have arrived.
        last_accuracy: Mean accuracy on all groups after the last session.
        backward_transfer: Accuracy on a group after the last session, minus accuracy on it in the
            session in which it arrived; mean over all groups but the last. Null for a single
            session.
        rows: JSON object for each session, with the fields "session" and "group I": macro accuracy
            on the classes that arrived in session I, or null before they arrived.
    """

    TABLE: ClassVar[str] = "rows"

    run: str
    anytime_accuracy: float
    last_accuracy: float
    backward_transfer: float | None
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Compacted(Result):
    """Run records that were packed into Parquet files.

    Args:
        records: Number of packed run records.
        files: Names of the Parquet files.
    """

    records: int
    files: list[str]


@dataclass(frozen=True)
class SuiteTables(Result):
    """Result tables of a suite.

    Args:
        markdown: All tables as Markdown.
    """

    markdown: str


@dataclass(frozen=True)
class Page(Result):
    """Written report on run records.

    Args:
        page: Path of the report's first page.
    """

    page: str


@dataclass(frozen=True)
class Trial:
    """Best trial of a parameter search on one dataset.

    Args:
        dataset: Name of the dataset.
        score: Harmonic mean of accuracies on validation classes.
        parameters: Parameter values of the trial.
    """

    dataset: str
    score: float
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Tuning(Result):
    """Parameter values of a method, chosen by accuracy on validation classes.

    Args:
        file: Path of the file with all trials.
        best: Best trial for each dataset.
        advice: Parameters whose best value is the smallest or largest value that was tried.
    """

    TABLE: ClassVar[str] = "best"

    file: str
    best: list[Trial]
    advice: list[str]


@dataclass(frozen=True)
class Checked(Result):
    """Contract checks that a method passed.

    Args:
        method: Name of the method.
        checks: Names of the passed checks.
    """

    method: str
    checks: list[str]


@dataclass(frozen=True)
class MapFile(Result):
    """File with positions of nodes on a two-dimensional map.

    Args:
        file: Path of the file.
    """

    file: str

"""Data for maps of embeddings: two-dimensional positions of nodes after a number of sessions."""

from collections.abc import Sequence
from pathlib import Path
from shlex import join
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT
from nodegraft.base.seeds import Seeds
from nodegraft.evaluation.protocol import teach
from nodegraft.graph.edges.matrix import Matrix, is_sparse
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.model.method import Method
from nodegraft.streams.session import Session
from nodegraft.streams.split import ClassSplit
from nodegraft.streams.stream import ClassStream

# Maximum number of nodes on a map, per class and in total: more points would hide each other.
OF_A_CLASS, IN_ALL = 60, 1500
# Maximum number of columns for t-SNE; longer vectors are reduced by truncated SVD first.
COLUMNS = 50


def map_points(job: Job, loaded: LoadedDataset, after: int) -> list[dict[str, Any]]:
    """Train a method up to a session; return map rows of query nodes and class prototypes.

    A prototype is the mean vector of a class's labelled nodes. Labels of query nodes are read only
    after training, to give each point its class.
    """
    stream, model = job.stream(loaded), job.make_model()
    if not 0 < after < len(stream):
        raise ParameterError(f"The map can be drawn after session 1 to {len(stream) - 1}.")
    for index in range(after + 1):
        teach(model, stream.session(index), stream, SILENT)
    session = stream.session(after)
    query = _sample(session.query, job.seed)
    vectors = [_embed(model, session, query.rows()), *_prototypes(model, session, stream)]
    places = flatten(_stack(vectors), job.seed)
    of_points = [name for name, rows in query.items() for _ in rows]
    marks = [(name, False) for name in of_points] + [(name, True) for name in session.query]
    return [
        {
            "method": job.method,
            "x": float(x),
            "y": float(y),
            "class": name,
            **_kind(name, stream.split),
            "is_prototype": is_prototype,
        }
        for (x, y), (name, is_prototype) in zip(places, marks, strict=True)
    ]


def flatten(vectors: Matrix, seed: int) -> NDArray[np.float64]:
    """Project vectors to two dimensions by t-SNE on cosine distances, with a reproducible result.

    >>> flatten(np.eye(5), seed=0).shape
    (5, 2)
    """
    # Import here, because the import is slow and only maps need it.
    from sklearn.decomposition import TruncatedSVD
    from sklearn.manifold import TSNE

    start = Seeds(seed).number("map") % 2**32
    if vectors.shape[1] > COLUMNS:
        vectors = TruncatedSVD(COLUMNS, random_state=start).fit_transform(vectors)
    perplexity = min(30.0, (vectors.shape[0] - 1) / 3)
    sne = TSNE(metric="cosine", init="pca", perplexity=perplexity, random_state=start)
    dense = vectors.toarray() if is_sparse(vectors) else vectors
    places: NDArray[np.float64] = sne.fit_transform(dense).astype(np.float64)
    return places


def write_map(rows: Sequence[dict[str, Any]], job: Job, after: int, folder: Path) -> Path:
    """Write map rows, and the command that reproduces them, to a Parquet file; return its path."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    words = ["nodegraft", "lab", "map", "--dataset", job.dataset]
    words += [word for method in methods for word in ("--method", method)]
    words += ["--seed", str(job.seed), "--after", str(after), "--data", "DIR", "--out", "RUNS/maps"]
    about = {"command": join(words), "dataset": job.dataset, "after": str(after)}
    folder.mkdir(parents=True, exist_ok=True)
    name = "-".join([job.dataset, *methods, f"seed-{job.seed}", f"after-{after}"])
    place = folder / f"{name}.parquet"
    table = pa.Table.from_pylist(list(rows)).replace_schema_metadata(about)
    pa.parquet.write_table(table, place)
    return place


def _sample(query: NodeLabels, seed: int) -> NodeLabels:
    most = max(1, min(OF_A_CLASS, IN_ALL // len(query)))
    seeds = Seeds(seed)
    return NodeLabels(
        {
            name: seeds.generator("map", name).permutation(rows)[:most]
            for name, rows in query.items()
        }
    )


def _embed(model: Method, session: Session, rows: NDArray[np.int64]) -> Matrix:
    return model.embed(session.view, session.view.keys_of(rows))


def _prototypes(model: Method, session: Session, stream: ClassStream) -> list[Matrix]:
    labels = stream.split.train | stream.split.support
    return [
        np.asarray(_embed(model, session, labels[name]).mean(axis=0)).reshape(1, -1)
        for name in session.query
    ]


def _stack(parts: Sequence[Matrix]) -> Matrix:
    return csr_array(vstack([csr_array(part) for part in parts]))


def _kind(name: str, split: ClassSplit) -> dict[str, Any]:
    if name in split.known:
        return {"kind": "base" if name in split.base else "pseudo-novel", "session": 0}
    return {"kind": "novel", "session": split.novel.index(name) // split.setting.ways + 1}

"""Run committed benchmark records again, and compare every accuracy with what was recorded.

    python -m studies.reruns --data DIR                 # twelve records of twelve methods
    python -m studies.reruns --data DIR --count 4 --seed 1

Draws records of the current stream version and the strict protocol, one for each method, on graphs
in turn; records that took longer than ``--seconds`` are left out. Ends with exit code 1 if an
accuracy differs by more than 1e-6.
"""

import argparse
import sys
from typing import Any

import numpy as np
import torch

from nodegraft.lab.benchmark.archive import Archive
from nodegraft.lab.benchmark.job import Job
from nodegraft.streams.stream import STREAM_VERSION

TOLERANCE = 1e-6


def main() -> None:
    """Draw, run and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", required=True, help="folder that holds the data folders")
    parser.add_argument("--results", default="results", help="folder of the records")
    parser.add_argument("--count", type=int, default=12, help="number of records")
    parser.add_argument("--seed", type=int, default=0, help="draws the records")
    parser.add_argument("--seconds", type=float, default=40.0, help="longest run to repeat")
    options = parser.parse_args()
    torch.set_num_threads(1)
    chosen = draw(
        Archive(options.results).documents(), options.count, options.seed, options.seconds
    )
    differences = [rerun(document, options.data) for document in chosen]
    sys.exit(int(max(differences, default=1.0) > TOLERANCE))


def draw(documents: list[dict[str, Any]], count: int, seed: int, seconds: float) -> list[Any]:
    """Return records of different methods, on as many graphs as there are.

    Args:
        documents: All records.
        count: Number of records.
        seed: Draws them.
        seconds: Longest run.
    """
    draws = np.random.default_rng(seed)
    possible = [
        document
        for document in documents
        if document["stream_version"] == STREAM_VERSION
        and document["protocol"] == "strict"
        and sum(session["seconds"] + session["query_seconds"] for session in document["sessions"])
        <= seconds
    ]
    chosen: list[dict[str, Any]] = []
    graphs: dict[str, int] = {}
    for method in draws.permutation(sorted({record["method"] for record in possible})):
        own = [record for record in possible if record["method"] == method]
        fewest = min(graphs.get(record["dataset"], 0) for record in own)
        own = [record for record in own if graphs.get(record["dataset"], 0) == fewest]
        chosen.append(own[draws.integers(len(own))])
        graphs[chosen[-1]["dataset"]] = fewest + 1
    return chosen[:count]


def rerun(document: dict[str, Any], data: str) -> float:
    """Run a record's job, print the largest difference of an accuracy, and return it.

    Args:
        document: The record.
        data: Folder that holds the data folders.
    """
    setting = document["setting"]
    job = Job(
        dataset=document["dataset"],
        method=document["method"],
        seed=document["seed"],
        node_seed=document["node_seed"],
        parameters=document["changed_parameters"],
        dataset_options=document["dataset_options"],
        ways=setting["ways"],
        shots=setting["shots"],
        least_shots=setting.get("least_shots"),
        arrival=document["arrival"],
    )
    loaded = job.load(data)
    now = job.run(loaded, job.stream(loaded)).document["sessions"]
    pairs = zip(document["sessions"], now, strict=True)
    difference: float = max(abs(a["macro_accuracy"] - b["macro_accuracy"]) for a, b in pairs)
    last = document["sessions"][-1]["macro_accuracy"]
    print(
        f"{job.title}, {job.arrival}: last session {last:.6f}, difference {difference:.1e}",
        flush=True,
    )
    return difference


if __name__ == "__main__":
    main()

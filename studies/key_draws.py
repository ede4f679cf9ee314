"""Which records a draw by key instead of by row changes: ``python -m studies.key_draws --data DIR``

Walks of ``graft`` start from at most ``kept_labels`` labels of a class. In records that name a
commit those were drawn by a hash of the row, since then by a hash of the key: where a class has
more training labels than that, another sample is drawn. Nothing else in any method depends on it.
Lists the records concerned in ``results/changed-by-key-draws.csv``; none is run again.
"""

import argparse
import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nodegraft.benchmark.job import Job
from nodegraft.benchmark.records.archive import read_documents

RESULTS = Path(__file__).parents[1] / "results"
COLUMNS = ("run", "dataset", "seed", "ways", "shots", "changed_parameters", "largest_class")


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", required=True)
    rows = list(changed(read_documents(RESULTS), parser.parse_args().data))
    with (RESULTS / "changed-by-key-draws.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} records")


def changed(documents: list[dict[str, Any]], data: str) -> Iterator[Mapping[str, Any]]:
    """Records of graft whose split has a class with more training labels than walks start from."""
    loaded: dict[str, Any] = {}
    for document in documents:
        if document["method"] != "graft" or document["source"].get("hash"):
            continue
        job = Job(
            dataset=document["dataset"],
            method="graft",
            seed=document["seed"],
            dataset_options=document["dataset_options"],
            ways=document["setting"]["ways"],
            shots=document["setting"]["shots"],
            arrival=document["arrival"],
            rehearse="rehearsal" in document["protocol"],
        )
        which = repr(job.make_dataset())
        if which not in loaded:
            loaded[which] = job.load(data)
        largest = max(rows.size for rows in job.stream(loaded[which]).split.train.values())
        walks = document["parameters"]["walks"]
        if walks and largest > document["parameters"]["kept_labels"]:
            yield {
                "run": document["run"],
                "dataset": document["dataset"],
                "seed": document["seed"],
                "ways": document["setting"]["ways"],
                "shots": document["setting"]["shots"],
                "changed_parameters": document["changed_parameters"],
                "largest_class": int(largest),
            }


if __name__ == "__main__":
    main()

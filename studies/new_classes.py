"""Whether groups that ``suggest`` takes for new classes are classes that were held back.

    python -m studies.new_classes --data DIR     # measures what is missing, then writes the table
    python -m studies.new_classes                # writes the table again

On the excerpt of WordNet that comes with the package, where no *feeling* is labelled: one more
class loses all its labels, a model is fitted, and the ten largest groups are looked at. A group is
right if its three examples, which a person would teach, are all of one class that was held back.
The classes of unlabelled nodes are read from the files of WordNet in DIR. How groups are found was
decided on this very excerpt, with four choices of classes held back: what comes out is how well it
can do, not what it does elsewhere. Writes
``studies/records/new-classes.json``, class by class, and from it
``docs/how-to/new-classes-measured.md``.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from studies.excerpt import CLASSES, FOLDER, NEW, named, read_nouns
from studies.record_file import PAGES, Record

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.rendering.table import Table
from nodegraft.analysis.snapshot import first_state
from nodegraft.analysis.suggestions import new_classes
from nodegraft.graph.graph import Graph
from nodegraft.tables.labels import read_labels
from nodegraft.tables.read import read_graph
from studies import record_file

RECORDS = record_file.FOLDER / "new-classes.json"
GROUPS = 10


def main() -> None:
    """Measure if there is data to measure on, and write the table."""
    options = record_file.parser(__doc__).parse_args()
    if options.data:
        measure_missing(Path(options.data) / "wordnet")
    page = PAGES.parent / "how-to" / "new-classes-measured.md"
    page.write_text(told(record_file.read(RECORDS)))


def measure_missing(source: Path) -> None:
    """Class by class."""
    truth = {key: synset.label for key, synset in named(read_nouns(source)).items()}
    tables = (FOLDER / "nodes.parquet", FOLDER / "edges.parquet")
    graph = read_graph(*tables, text="description", edge_type="kind", directed=True)
    done = {record["held_back"] for record in record_file.read(RECORDS)}
    for name in CLASSES:
        if name not in (NEW, *done):
            record = {"held_back": name, "groups": found(graph, truth, name)}
            record_file.add(RECORDS, record, order=lambda one: one["held_back"])
            print(name, flush=True)


def found(graph: Graph, truth: dict[str, str], held_back: str) -> list[Record]:
    """The groups, and of which classes their examples are."""
    labels = dict(read_labels(FOLDER / "labels.parquet", graph))
    del labels[held_back]
    state = first_state(graph, StoreLabels().added(labels), "graft", {})
    return [
        {
            "size": one.size,
            "words": list(one.top_terms),
            "classes": [truth[str(node)] for node in one.examples],
        }
        for one in new_classes(state, GROUPS)
    ]


def told(records: Sequence[Record]) -> str:
    """A row for each class that was held back."""
    rows = []
    for record in records:
        kinds = Counter(_kind(one["classes"], record["held_back"]) for one in record["groups"])
        counts = (kinds[kind] for kind in (record["held_back"], NEW, "known", "mixed"))
        rows.append([record["held_back"], str(len(record["groups"])), *map(str, counts)])
    heads = ["removed class", "groups", "of this class", f"of {NEW}", "of a known class", "mixed"]
    return f"<!-- Written by studies/new_classes.py. -->\n\n{Table.of(heads, rows).markdown()}\n"


def _kind(classes: list[str], held_back: str) -> str:
    if len(set(classes)) > 1:
        return "mixed"
    return classes[0] if classes[0] in (held_back, NEW) else "known"


if __name__ == "__main__":
    main()

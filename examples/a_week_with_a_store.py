"""A week of somebody whose taxonomy grows: teach, look, undo, promote, watch.

    python examples/a_week_with_a_store.py

Needs the extra `store`. The nouns and their relations come with the package (WordNet 3.0); on the
command line the same is `nodegraft example`, `init`, `add`, `undo` …
"""

from importlib.resources import as_file, files
from tempfile import TemporaryDirectory

import nodegraft as ng
from nodegraft.analysis.labels.changes import Change

FEELINGS = ["joy", "anger", "fear", "hope", "shame"]
MIXED = ["elbow", "ankle", "lunch", "omelet", "pizza"]
COLUMNS = {"edge_type": "kind", "directed": True}

with as_file(files("nodegraft.lab.datasets") / "excerpt") as words, TemporaryDirectory() as folder:
    # Monday: three tables become a store.
    graph = ng.read_graph(
        words / "nodes.parquet", words / "edges.parquet", text="description", **COLUMNS
    )
    labels = ng.read_labels(words / "labels.parquet", graph)
    store = ng.Store.init(
        f"{folder}/words", graph, labels, tables=COLUMNS, intent=ng.Intent(note="Monday")
    )
    right = store.history()[0].measures["after"]["accuracy"]
    print(f"Monday: {len(labels)} classes, {100 * right:.1f} % of held-out nodes right")

    # Tuesday: five examples of a new class arrive. What would change?
    change = Change("add", {"classes": {"feeling": FEELINGS}})
    seen = store.preview(change)
    (before, after), count = next(iter(seen.flips.items()))
    print(f"Tuesday: {seen.flipped} answers would change, {count} from {before} to {after}")
    print(f"  for example {', '.join(str(flip.node) for flip in seen.examples[:4])}")
    version = store.change(change, intent=ng.Intent(note="asked for by the editors"))
    print(f"  version {version.number} knows it; version {store.live} answers")

    # Wednesday: is it good enough to answer? Then let it.
    answers = store.predict(["envy", "elbow", "sea"], version=2, min_confidence=0.9)
    print(f"Wednesday: {dict(zip(answers.nodes, answers.predictions, strict=True))}")
    store.promote(intent=ng.Intent(note="looks right"))

    # Thursday: somebody taught nonsense. The gate says no; had it not, undo would.
    try:
        store.add({"mixture": MIXED})
    except ng.errors.NodegraftError as error:
        print(f"Thursday: {error}")

    # Friday: which labels would help most, and has anything moved?
    for one in store.suggest(3):
        print(f"Friday: {one.node} is {one.prediction} or {one.second_class}: which?")
    moved = [shift.measure for shift in store.drift(1, 2) if shift.alarm]
    print(f"  moved since Monday: {', '.join(moved) or 'nothing'}")
    undone = store.undo(intent=ng.Intent(note="the editors changed their minds"))
    assert undone.model == store.history()[0].model
    print(f"  version {undone.number} is version 1 again, byte for byte")
    store.close()

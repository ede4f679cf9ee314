"""From two tables to a model that knows a class it met a moment ago. Core install is enough.

    python examples/first_steps.py

A small shop is drawn at random and written as Parquet files, as you would have them.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import nodegraft as ng

WORDS = {
    "shoes": "sneaker sole lace leather heel boot running walking",
    "hats": "brim wool cap straw beanie head winter sun",
    "watches": "dial strap quartz steel hands second date sapphire",
    "tents": "pole pegs canvas waterproof camping storm fly light",
    "knives": "blade handle steel kitchen sharp folding chef bread",
    "lamps": "bulb shade desk light cable dimmer brass floor",
    "e-bikes": "battery motor wheel pedal frame charger brake range",
}


def write_shop(folder: Path) -> dict[str, list[str]]:
    """Products with a text, and which were viewed together; returns who belongs where."""
    random = np.random.default_rng(0)
    products: dict[str, list[str]] = {}
    texts, viewed = [], []
    for category, words in WORDS.items():
        products[category] = [f"{category}-{number}" for number in range(40)]
        vocabulary = [*words.split(), "new", "sale"]
        texts += [" ".join(random.choice(vocabulary, size=4)) for _ in products[category]]
        viewed += [tuple(random.choice(products[category], size=2)) for _ in range(120)]
    everything = [product for members in products.values() for product in members]
    viewed += [tuple(random.choice(everything, size=2)) for _ in range(60)]
    pq.write_table(pa.table({"id": everything, "text": texts}), folder / "nodes.parquet")
    source, target = zip(*viewed, strict=True)
    pq.write_table(pa.table({"a": source, "b": target}), folder / "edges.parquet")
    return products


with TemporaryDirectory() as temporary:
    folder = Path(temporary)
    products = write_shop(folder)

    tables = ng.read_tables(
        folder / "nodes.parquet",
        folder / "edges.parquet",
        key="id",
        text="text",
        source="a",
        target="b",
    )
    print(f"What was read:\n{tables.report}\n")
    graph = tables.graph

    known = {name: members[:20] for name, members in products.items() if name != "e-bikes"}
    model = ng.Graft(seed=7).fit(graph, known)
    print(f"The model knows {', '.join(model.classes_)}.")

    unknown = products["e-bikes"][-1]
    answer = model.predict_or_abstain(graph, [unknown])[0]
    print(f"Asked about {unknown}, it says {answer}: it abstains.")

    added = model.add_classes(graph, {"e-bikes": products["e-bikes"][:3]})
    print(f"Three examples and {1000 * added.seconds:.1f} ms later it knows e-bikes too.")

    why = model.explain(graph, unknown)
    print(
        f"Now {unknown} is {why['answer']} (probability {why['probability']:.2f}; "
        f"next {why['runner_up']}, {why['runner_up_probability']:.2f}), "
        f"most of all because of {why['labels'][0]['node']}."
    )

    for category, members in products.items():
        guessed = model.predict(graph, members[20:])
        right = sum(guess == category for guess in guessed)
        print(f"{category:>8}: {right} of {len(guessed)} held-out products right")

    # Tomorrow the table has its rows in another order, and new ones. The saved model knows nodes by
    # their keys, and how their columns became features.
    model.save(folder / "models" / "1")
    loaded = ng.load_model(folder / "models" / "1")
    table = pq.read_table(folder / "nodes.parquet")
    shuffled = table.take(np.random.default_rng(1).permutation(table.num_rows))
    edges = folder / "edges.parquet"
    tomorrow = ng.read_graph(
        shuffled, edges, key="id", source="a", target="b", recipe=loaded.recipe
    )
    nodes = [members[-1] for members in products.values()]
    assert loaded.predict(tomorrow, nodes) == model.predict(graph, nodes)
    print(f"Saved, loaded, rows in another order: it still answers {model.predict(graph, nodes)}.")

    new = pa.table({"id": ["new-1"], "text": ["battery motor charger"]})
    seen = pa.table({"a": ["new-1"], "b": [products["e-bikes"][5]]})
    grown = ng.grow_graph(tomorrow, new, seen, key="id", source="a", target="b")
    print(f"A product that came today is one of {loaded.predict(grown, ['new-1'])[0]}.")

    model.remove_classes(["e-bikes"])
    print(f"And undone: it knows {', '.join(model.classes_)}.")

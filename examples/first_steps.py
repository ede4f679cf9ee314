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

    strange = products["e-bikes"][-1]
    print(f"Asked about {strange}, it says {model.predict_or_abstain(graph, [strange])[0]}.")

    added = model.add_classes(graph, {"e-bikes": products["e-bikes"][:3]})
    print(f"Three examples and {1000 * added.seconds:.1f} ms later it knows e-bikes too.")

    why = model.explain(graph, strange)
    print(
        f"Now {strange} is {why['answer']} (probability {why['probability']:.2f}; "
        f"next {why['runner_up']}, {why['runner_up_probability']:.2f}), "
        f"most of all because of {why['labels'][0]['node']}."
    )

    for category, members in products.items():
        guessed = model.predict(graph, members[20:])
        right = sum(guess == category for guess in guessed)
        print(f"{category:>8}: {right} of {len(guessed)} held-out products right")

    model.save(folder / "models" / "1")
    again = ng.load_model(folder / "models" / "1")
    nodes = [members[-1] for members in products.values()]
    assert again.predict(graph, nodes) == model.predict(graph, nodes)
    print(f"Saved and loaded; it still answers {again.predict(graph, nodes)}.")

    model.remove_classes(["e-bikes"])
    print(f"And undone: it knows {', '.join(model.classes_)}.")

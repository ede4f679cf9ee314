"""What pages start from: the tables of a shop, stores, and records."""

import random
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

from nodegraft.cli.app import app
from tests.cli.pages import ROOT

WORDS = {
    "hats": "felt with wool and a brim for winter or straw for sun",
    "shoes": "running shoes of leather with a sole and laces and a heel",
    "tents": "a storm tent of canvas with poles and pegs for camping",
    "e-bikes": "a bike with battery motor charger pedals wheels and a brake",
}
FIRST_BIKE, BIKES, PRODUCTS = 91000, 40, 160
TABLES = ("nodes", "edges", "labels")
FIRST_STORE = [
    *("init", "my-store", "--text", "description", "--type", "kind", "--directed"),
    *(f"--{name}=words/{name}.parquet" for name in TABLES),
]
SHOP = [
    *("init", "shop", "--key", "id", "--text", "description", "--type", "kind"),
    *(f"--{name}={name}.parquet" for name in TABLES),
]


def cache_of(number: int) -> str:
    """The class of a product: every second one is a hat."""
    if number >= FIRST_BIKE:
        return "e-bikes"
    return ("shoes", "hats", "tents", "hats")[number % 4]


def write_tables(folder: Path) -> None:
    """Nodes, edges, labels and new rows, under the names and with the columns that pages use."""
    draw = random.Random(3)  # noqa: S311
    numbers = [*range(PRODUCTS), *range(FIRST_BIKE, FIRST_BIKE + BIKES)]
    nodes = [_product(number, draw) for number in numbers]
    edges = [_edge(number, numbers, draw) for number in numbers for _ in range(3)]
    # p150 has no description, and is bought with one of each class.
    nodes[150]["description"] = None
    edges = [one for one in edges if "p150" not in (one["source"], one["target"])]
    joined = {"source": "p150", "kind": "bought-together", "times": 1}
    edges += [{**joined, "target": other} for other in ("p2", "p3", "p20")]
    labels = [
        {"id": f"p{number}", "label": cache_of(number), "category": cache_of(number)}
        for number in range(PRODUCTS - 40)
        if number % 4 != 1
    ]
    new = [_product(91500, draw)], [_edge(91500, numbers, draw)]
    for name, rows in {
        "nodes": nodes,
        "edges": edges,
        "labels": labels,
        "new-nodes": new[0],
        "new-edges": new[1],
    }.items():
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")
    for name, rows in {"nodes": nodes, "edges": edges}.items():
        parts = folder / "parts" / name
        parts.mkdir(parents=True)
        for place in range(2):
            pq.write_table(pa.Table.from_pylist(rows[place::2]), parts / f"{place}.parquet")


def _product(number: int, draw: random.Random) -> dict[str, Any]:
    words = WORDS[cache_of(number)].split()
    # Only p17 is called a hat: whoever searches for that finds one product.
    text = " ".join(draw.sample(words, 5)) if number != 17 else "a felt hat with a brim"
    return {
        "id": f"p{number}",
        "title": draw.choice(words),
        "description": text,
        "price": float(draw.randint(5, 90)),
        "weight": draw.random(),
        "embedding": [draw.gauss(list(WORDS).index(cache_of(number)), 0.5), draw.random()],
        "brand": draw.choice(["Acme", "Boa"]),
    }


def _edge(number: int, numbers: list[int], draw: random.Random) -> dict[str, Any]:
    alike = [other for other in numbers if cache_of(other) == cache_of(number) and other != number]
    kind = draw.choice(["bought-together", "same-brand", "replaces"])
    other = draw.choice(numbers if kind == "same-brand" else alike)
    return {
        "source": f"p{number}",
        "target": f"p{other if other != number else alike[0]}",
        "kind": kind,
        "times": draw.randint(1, 5),
    }


def make_first_store() -> None:
    """``my-store``, as the first tutorial makes it in the working folder."""
    _run(["example", "words"])
    _run(FIRST_STORE)


def make_shop() -> None:
    """The tables, and a store of them, in the working folder."""
    write_tables(Path())
    _run(SHOP)


def lay_out_records(place: str) -> None:
    """A checkout's suites, and records of one graph in a folder, as ``lab bench`` leaves them."""
    Path("experiments").symlink_to(ROOT / "experiments")
    Path(place).mkdir()
    for file in (ROOT / "results").glob("treebank-*.parquet"):
        shutil.copy(file, place)


def _run(command: list[str]) -> None:
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output

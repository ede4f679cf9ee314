import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from nodegraft.base.errors import CheckpointError, DataError
from nodegraft.graph.graph import Graph
from nodegraft.methods.graft import Graft
from nodegraft.model.registry import load_model
from nodegraft.tables.features.categories import CategoryColumn
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.read import read_graph
from nodegraft.tables.storage import load_graph, save_graph
from tests.graph.reference import dense

SHOP: dict[str, Any] = {
    "key": [f"p{place}" for place in range(8)],
    "title": ["red hat", "blue hat", "red shoe", "blue shoe"] * 2,
    "body": ["wool", "wool", "leather", None] * 2,
    "price": [10.0, 12.0, 50.0, None, 11.0, 13.0, 52.0, 60.0],
    "stock": [1, 0, 3, 4, 1, 1, 9, 2],
    "brand": ["a", "b", None, "a", "a", "b", "c", "a"],
    "vector": [[float(place), 1.0] for place in range(8)],
}
OPTIONS: dict[str, Any] = {
    "text": ["title", "body"],
    "features": ["price", "vector", "stock"],
    "categories": "brand",
    "min_documents": 1,
}


def shop(**changes: Any) -> Any:
    return pa.table({**SHOP, **changes})


def recipe() -> FeatureRecipe:
    return FeatureRecipe.fit(shop(), **OPTIONS)


def test_every_kind_of_column_has_its_place() -> None:
    found = recipe()
    words = ["blue", "hat", "leather", "red", "shoe", "wool"]
    others = ["price", "stock", "vector[0]", "vector[1]", "brand=a", "brand=b", "brand=c"]
    assert found.feature_names == words + others
    assert found.num_features == 13
    rows = found.transform(shop())
    assert isinstance(rows, csr_array)
    ends = [0, 6, 8, 10, 13]
    for first, last in pairwise(ends):
        part = dense(rows)[:, first:last]
        np.testing.assert_allclose((part**2).sum(axis=1).mean(), 1.0, rtol=1e-5)


def test_what_is_missing_or_new_is_nothing() -> None:
    odd = shop(
        title=[None] * 8,
        body=["unheard of"] * 8,
        price=[None] * 8,
        stock=[None] * 8,
        brand=["unknown"] * 8,
        vector=[None] * 8,
    )
    assert not dense(recipe().transform(odd)).any()


def test_it_comes_back_from_json_and_arrays() -> None:
    first = recipe()
    arrays, document = first.state()
    again = FeatureRecipe.from_state(arrays, json.loads(json.dumps(document)))
    assert again == first
    assert hash(again) == hash(first)
    assert np.array_equal(dense(again.transform(shop())), dense(first.transform(shop())))
    with pytest.raises(CheckpointError, match="no whole feature recipe"):
        FeatureRecipe.from_state({}, document)
    with pytest.raises(CheckpointError, match="no whole feature recipe"):
        FeatureRecipe.from_state(arrays, {"encoders": [{"kind": "pickle"}], "scales": [1.0]})


def test_another_table_is_another_recipe() -> None:
    changes: list[dict[str, Any]] = [
        {"title": ["green"] * 8},
        {"price": [1.0] * 8},
        {"brand": ["z"] * 8},
        {"vector": [[1.0]] * 8},
    ]
    hashes = {FeatureRecipe.fit(shop(**one), **OPTIONS).content_hash for one in changes}
    assert len(hashes | {recipe().content_hash}) == 5


def test_a_category_of_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodegraft.tables.features.categories.MOST_VALUES", 2)
    with pytest.raises(DataError, match=r"'brand' .* has 3 different values; .* text='brand'"):
        FeatureRecipe.fit(shop(), categories="brand")
    with pytest.raises(DataError, match="has 0 different values"):
        FeatureRecipe.fit(shop(brand=pa.nulls(8, pa.string())), categories="brand")
    assert CategoryColumn("x", ("1", "2")).feature_names == ["x=1", "x=2"]


def test_no_column_is_no_recipe() -> None:
    with pytest.raises(DataError, match="Name at least one column"):
        FeatureRecipe.fit(shop())


def test_it_travels_with_graph_and_model(tmp_path: Path) -> None:
    """Tomorrow's table, read by the recipe of today's model, means the same."""
    graph = read_graph(shop(), **OPTIONS)
    save_graph(graph, tmp_path / "graph")
    assert load_graph(tmp_path / "graph").recipe == graph.recipe
    labels = {"hats": ["p0", "p1"], "shoes": ["p2", "p3"]}
    Graft().fit(graph, labels).save(tmp_path / "model")
    model = load_model(tmp_path / "model")
    assert model.recipe == graph.recipe
    order = [5, 2, 7, 0, 3, 1, 6, 4]
    tomorrow = shop().take(order).append_column("more", pa.array(range(8)))
    again = read_graph(tomorrow, recipe=model.recipe)
    assert model.predict(again, SHOP["key"]) == model.predict(graph, SHOP["key"])
    extra = shop(title=["red hat", "green hat", "red shoe", "green shoe"] * 2)
    with pytest.raises(DataError, match=r"another recipe .* recipe=model\.recipe"):
        model.predict(read_graph(extra, **OPTIONS), ["p0"])
    bare = Graph(SHOP["key"], graph.features(graph.rows))
    assert model.predict(bare, ["p0"]) == model.predict(graph, ["p0"])

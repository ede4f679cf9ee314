"""Text encoders of other packages: names, fingerprints, and vectors as features."""

import logging
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nodegraft as ng
from nodegraft.base.errors import DataError, MissingExtraError, ParameterError, UnknownNameError
from nodegraft.tables.columns import read_source
from nodegraft.tables.features import text_encoders
from nodegraft.tables.features.embedded import BATCH, EmbeddedText
from nodegraft.tables.features.text_encoders import PROBES, LoadedEncoder
from tests.tables.features.plugin import install

TABLE = pa.table({"key": [1, 2, 3, 4], "text": ["a red hat", "red shoes", None, "a red hat"]})
WORDS = ["[UNK]", "red", "shoes", "small", "graph", "hat", "libxml2", "sud"]


def fitted(encoder: Any, **options: Any) -> ng.FeatureRecipe:
    return ng.FeatureRecipe.fit(TABLE, text="text", encoder=encoder, **options)


def save_model2vec(folder: Path, seed: int = 0) -> str:
    """Save a model of a few words with the real package; return its name."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: place for place, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(seed).normal(size=(len(WORDS), 6)).astype(np.float32)
    StaticModel(vectors, tokenizer).save_pretrained(str(folder))
    return f"model2vec:{folder}"


def test_wordllama_compares_meanings_without_a_download_or_log_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("wordllama opened a connection")

    root = logging.getLogger()
    monkeypatch.setattr("socket.socket.connect", refused)
    # Its import would add a handler where there is none.
    monkeypatch.setattr(root, "handlers", [])
    for name in [name for name in sys.modules if name.partition(".")[0] == "wordllama"]:
        monkeypatch.delitem(sys.modules, name)
    text_encoders._load.cache_clear()
    level = root.level
    loaded = LoadedEncoder.load("wordllama")
    assert (root.handlers, root.level) == ([], level)
    shoes, sneakers, law = loaded.vectors(["red shoes", "sneakers", "tax law"])
    assert shoes.shape == (256,)
    assert shoes @ sneakers > shoes @ law + 0.1
    alone = loaded.vectors(["sneakers"])[0]
    assert np.array_equal(alone, sneakers)
    assert (loaded.package, loaded.fingerprint.shape) == ("wordllama", (len(PROBES), 256))


def test_vectors_have_length_1_and_missing_texts_are_zeros(tmp_path: Path) -> None:
    name = save_model2vec(tmp_path / "tiny")
    recipe = fitted(name)
    encoded = recipe.encode(read_source(TABLE, "nodes"), np.array([1, 2, 3, 4]))
    rows: Any = encoded.matrix
    assert (rows.dtype, rows.shape) == (np.float32, (4, 6))
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 0, 1])
    assert np.array_equal(rows[0], rows[3])
    assert [str(found).split(maxsplit=1)[1] for found in encoded.findings] == [
        "node whose text is missing (for example 3)"
    ]
    assert recipe.feature_names[:2] == [f"{name}[0]", f"{name}[1]"]
    assert (recipe.columns, recipe.text_columns, recipe.words) == (("text",), ("text",), [])
    texts = recipe.texts(read_source(TABLE, "nodes"))
    assert texts is not None
    assert list(texts) == ["a red hat", "red shoes", "", "a red hat"]


def test_several_encoders_are_joined_each_with_length_1(tmp_path: Path) -> None:
    recipe = fitted(["tfidf", save_model2vec(tmp_path / "tiny")], min_documents=1)
    rows: Any = recipe.transform(TABLE)
    words = fitted("tfidf", min_documents=1)
    assert recipe.words == words.words
    assert np.linalg.norm(rows[[0, 1]].toarray()[:, -6:], axis=1) == pytest.approx([1, 1])
    scale = recipe.scales[0]
    wanted: Any = words.transform(TABLE)
    assert rows[:, :-6].toarray() == pytest.approx(wanted.toarray() * np.float32(scale))


def test_a_saved_graph_has_the_same_encoder(tmp_path: Path) -> None:
    name = save_model2vec(tmp_path / "tiny")
    graph = ng.read_graph(TABLE, text="text", encoder=name)
    ng.save_graph(graph, tmp_path / "graph")
    loaded: Any = ng.load_graph(tmp_path / "graph").recipe
    own: Any = graph.recipe
    assert loaded == own
    (part,) = loaded.encoders
    assert (part.encoder, part.package) == (name, "model2vec")
    assert part.version
    more = pa.table({"key": [5], "text": ["red"]})
    assert np.array_equal(loaded.transform(more), own.transform(more))


def test_a_build_on_disk_gives_the_same_features(tmp_path: Path) -> None:
    from nodegraft.tables.disk.build import build_graph

    name = save_model2vec(tmp_path / "tiny")
    built = build_graph(TABLE, None, tmp_path / "graph", text="text", encoder=name).graph
    read = ng.read_graph(TABLE, text="text", encoder=name)
    assert np.array_equal(built.features(built.rows), read.features(read.rows))


def test_an_encoder_that_gives_other_vectors_is_refused(tmp_path: Path) -> None:
    name = save_model2vec(tmp_path / "tiny")
    recipe = fitted(name)
    restored = ng.FeatureRecipe.from_state(*recipe.state())
    save_model2vec(tmp_path / "tiny", seed=1)
    text_encoders._load.cache_clear()
    with pytest.raises(DataError, match=r"other vectors now .* refit STORE --encoder \S+ --nodes"):
        restored.transform(TABLE)
    mixed = fitted(["tfidf", name], min_documents=1)
    save_model2vec(tmp_path / "tiny", seed=2)
    text_encoders._load.cache_clear()
    with pytest.raises(DataError, match=f"--encoder tfidf --encoder {name} --nodes"):
        mixed.transform(TABLE)
    save_model2vec(tmp_path / "tiny")
    text_encoders._load.cache_clear()
    assert np.array_equal(restored.transform(TABLE), recipe.transform(TABLE))


def test_rounding_and_another_version_with_the_same_vectors_are_accepted(tmp_path: Path) -> None:
    (part,) = fitted(save_model2vec(tmp_path / "tiny")).encoders
    assert isinstance(part, EmbeddedText)
    arrays, document = part.state()
    nearly = {"fingerprint": arrays["fingerprint"] + np.float32(1e-3)}
    moved = EmbeddedText.from_state(nearly, document | {"version": "0.0.1"})
    assert moved.encode(read_source(TABLE, "nodes"), np.arange(4)).matrix.shape == (4, 6)


def test_a_function_of_another_package_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch)
    recipe = fitted("letters")
    (part,) = recipe.encoders
    assert isinstance(part, EmbeddedText)
    assert (part.package, part.version) == ("letter-counts", "3.1")
    rows: Any = recipe.transform(pa.table({"text": ["aab"]}))
    assert rows[0, :3] == pytest.approx(np.array([2, 1, 0]) / np.sqrt(5))


def test_progress_and_equal_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch)
    steps: list[tuple[str, int, int]] = []

    class Steps(ng.Listener):
        def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
            steps.append((stage, done, total))

    texts = [f"text {'x' * (number % (BATCH + 5))}" for number in range(3 * BATCH)]
    table = pa.table({"key": range(len(texts)), "text": texts})
    ng.read_tables(table, text="text", encoder="letters", listener=Steps())
    assert steps == [("encode texts", BATCH, BATCH + 5), ("encode texts", BATCH + 5, BATCH + 5)]


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("wordlama", UnknownNameError, "Did you mean 'wordllama'"),
        (
            "other",
            UnknownNameError,
            "Known: fastembed:NAME, model2vec:NAME, sen",
        ),
        (["tfidf", "tfidf"], ParameterError, "'tfidf' is listed twice"),
        ("wordllama:other", ParameterError, "must have the form wordllama"),
        ("model2vec", ParameterError, "must have the form model2vec:NAME"),
        ("model2vec:/no/such/folder", DataError, "cannot be loaded"),
    ],
)
def test_names_that_cannot_be_loaded(
    name: str | list[str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as raised:
        fitted(name)
    assert "wordllama:NAME" not in str(raised.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for package, advice in (
        ("wordllama", r"nodegraft\[encoders\]"),
        ("fastembed:tiny", "pip install fastembed"),
    ):
        text_encoders._load.cache_clear()
        monkeypatch.setitem(sys.modules, package.partition(":")[0], None)
        with pytest.raises(MissingExtraError, match=advice):
            fitted(package)
    text_encoders._load.cache_clear()


def test_an_encoder_needs_columns_of_text() -> None:
    with pytest.raises(ParameterError, match="--text"):
        ng.read_graph(pa.table({"key": [1], "price": [2.0]}), features="price", encoder="wordllama")


@pytest.mark.parametrize(
    "rows", [[[1.0]], [1.0, 2.0, 3.0], [[np.nan]] * 3, [[1.0], [2.0, 3.0]] * 2]
)
def test_arrays_that_do_not_fit_are_refused(rows: Any) -> None:
    with pytest.raises(DataError, match="'broken'"):
        LoadedEncoder("broken", "p", "1", lambda _: rows).vectors(["a", "b", "c"])


class _NeedsGradient:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("use detach()")


def _failed(_: list[str]) -> Any:
    raise KeyError("weights")


@pytest.mark.parametrize(
    ("encode", "words"),
    [
        (_failed, r"'broken' failed: KeyError\('weights'\)"),
        (lambda _: _NeedsGradient(), r"'broken' gave no array: use detach"),
    ],
)
def test_any_error_of_an_encoder_is_reported(encode: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        LoadedEncoder("broken", "p", "1", encode).vectors(["a"])


def test_a_width_that_depends_on_the_batch_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch)
    loaded = LoadedEncoder("letters", "p", "1", lambda texts: np.ones((len(texts), len(texts))))
    monkeypatch.setattr(text_encoders, "_load", lambda _: loaded)
    with pytest.raises(DataError, match="width 2 for some texts and 10 for others"):
        fitted("letters").transform(TABLE)


class _Downloaded:
    """Stands for a class that downloads a model: its vectors have the length of its name."""

    def __init__(self, name: str) -> None:
        self._width = len(name)

    def encode(self, texts: list[str], show_progress_bar: bool) -> Any:
        assert not show_progress_bar
        return np.stack(list(self.embed(texts)))

    def embed(self, texts: list[str]) -> Any:
        return (np.full(self._width, len(text), dtype=np.float32) for text in texts)


@pytest.mark.parametrize(
    ("package", "name"),
    [("sentence_transformers", "SentenceTransformer"), ("fastembed", "TextEmbedding")],
)
def test_models_that_are_downloaded(
    package: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType(package)
    setattr(module, name, _Downloaded)
    monkeypatch.setitem(sys.modules, package, module)
    monkeypatch.setattr(text_encoders, "version", lambda _: "1.0")
    recipe = fitted(f"{package.replace('_', '-')}:tiny")
    assert recipe.num_features == len("tiny")
    assert np.array_equal(recipe.transform(TABLE)[0], np.full(4, 0.5, dtype=np.float32))


def test_the_recipe_of_tfidf_is_what_it_was() -> None:
    recipe = ng.FeatureRecipe.fit(TABLE, text="text", min_documents=1)
    assert recipe == ng.read_graph(TABLE, text="text", min_documents=1).recipe
    assert recipe.content_hash == "c670a89873e94d07c65ab7b1edceb61f"


def test_a_recipe_without_tfidf_has_none_of_its_options() -> None:
    with pytest.raises(ParameterError, match="tfidf, which is not used here"):
        ng.FeatureRecipe.fit(TABLE, text="text", encoder="wordllama", stop_words="english")


def test_a_recipe_has_its_own_encoder() -> None:
    with pytest.raises(ParameterError, match="by which text encoder"):
        ng.read_graph(TABLE, recipe=fitted("tfidf", min_documents=1), encoder="wordllama")

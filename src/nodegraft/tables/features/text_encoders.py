"""Text encoders by name: pretrained models of other packages that convert texts to vectors."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, MissingExtraError, ParameterError, UnknownNameError

Encode: TypeAlias = Callable[[list[str]], Any]
"""Function that returns a vector for each text."""

GROUP = "nodegraft.encoders"
"""Entry point group for plug-ins; each entry point is an :data:`Encode` function."""

TFIDF = "tfidf"
"""Name of the TF-IDF encoder, which is fitted on the texts; all other encoders are pretrained."""

PROBES = (
    "red shoes",
    "A library for parsing command line arguments.",
    "the quick brown fox jumps over the lazy dog",
    "price 19.99, 3 pieces, 250 ml",
    "Bibliothek für wissenschaftliches Rechnen",
    "la cuisine du sud de la France",
    "数据库连接池",
    "библиотека для работы с графами",
    "sudo apt-get install libxml2-dev",
    "small",
)
"""Short texts whose vectors identify an encoder: a changed model gives other vectors."""

SAME = 0.05
"""Maximum distance between two unit vectors of a probe text that count as equal.

This limit is larger than rounding differences between machines, but smaller than the distance
between vectors of two different models.
"""

LOADED = 4
"""Cache size: maximum number of encoders that remain in memory."""


@dataclass(frozen=True, eq=False)
class LoadedEncoder:
    """Text encoder that is loaded in memory, with the name and version of its package."""

    name: str
    """Name of the encoder as users write it."""

    package: str
    """Name of the Python package that provides the encoder."""

    version: str
    """Installed version of the package."""

    encode: Encode
    """Function that converts texts to vectors."""

    @classmethod
    def load(cls, name: str) -> "LoadedEncoder":
        """Load an encoder by name; return it from the cache if it was loaded before.

        Args:
            name: ``wordllama``, ``model2vec:NAME`` …, or the name of an entry point.
        """
        return _load(name)

    @cached_property
    def fingerprint(self) -> NDArray[np.float32]:
        """Vectors of the probe texts :data:`PROBES`, which identify the model."""
        return self.vectors(list(PROBES))

    def vectors(self, texts: list[str]) -> NDArray[np.float32]:
        """Return a unit vector for each text; a vector of zeros is not scaled."""
        try:
            vectors = self.encode(texts)
        except Exception as error:
            # Catch all exceptions, because the package may raise any kind.
            raise DataError(f"Text encoder {self.name!r} failed: {error!r}.") from error
        try:
            rows = np.array(vectors, dtype=np.float32)
        except (RuntimeError, TypeError, ValueError) as error:
            # Catch RuntimeError, which PyTorch raises for a tensor that requires a gradient.
            raise DataError(f"Text encoder {self.name!r} gave no array: {error}.") from error
        if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
            raise DataError(
                f"Text encoder {self.name!r} gave an array of shape {rows.shape} for "
                f"{len(texts)} texts: it must give one row for each text."
            )
        if not np.isfinite(rows).all():
            raise DataError(f"Text encoder {self.name!r} gave NaN or infinite numbers.")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        # Divide rows of zeros by 1, because dividing by their length 0 would give NaN.
        rows /= np.where(lengths > 0, lengths, np.float32(1))
        return rows


@lru_cache(maxsize=LOADED)
def _load(name: str) -> LoadedEncoder:
    package, _, model = name.partition(":")
    if package not in LOADERS:
        for point in entry_points(group=GROUP, name=name):
            distribution = point.dist
            if distribution is not None:
                encode = _loaded(name, point.load)
                return LoadedEncoder(name, distribution.name, distribution.version, encode)
        others = [point.name for point in entry_points(group=GROUP)]
        forms = [f"{other}:NAME" for other in LOADERS if other != WORDLLAMA]
        known = [TFIDF, WORDLLAMA, *forms, *others]
        raise UnknownNameError("text encoder", name, known)
    if bool(model) == (package == WORDLLAMA):
        form = package if package == WORDLLAMA else f"{package}:NAME"
        raise ParameterError(f"Text encoder {name!r} must have the form {form}.")
    encode = _loaded(name, lambda: LOADERS[package](model))
    return LoadedEncoder(name, package, version(package), encode)


def _loaded(name: str, load: Callable[[], Encode]) -> Encode:
    package = name.partition(":")[0]
    try:
        return load()
    except ModuleNotFoundError as error:
        requirement = "'nodegraft[encoders]'" if package == WORDLLAMA else package
        raise MissingExtraError(
            f"Text encoder {name!r} cannot be loaded: {error}. Install its package: "
            f"pip install {requirement}"
        ) from error
    except Exception as error:
        # Catch all exceptions, because the package may raise any kind for a missing model or a
        # failed download.
        raise DataError(f"Text encoder {name!r} cannot be loaded: {error}") from error


WORDLLAMA = "wordllama"

PADDED = 16
"""Batch size for wordllama, in texts."""


def _wordllama(_: str) -> Encode:
    with _unchanged_logging():
        import wordllama
    # The package contains weights and tokenizer, but wordllama does not find the tokenizer there
    # and would download it. So pass the package folder as cache folder.
    loaded = wordllama.WordLlama.load(
        cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
    # Use small batches to save memory, because every text is padded to the longest text of its
    # batch.
    return lambda texts: loaded.embed(texts, batch_size=PADDED)


def _sentence_transformers(model: str) -> Encode:
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(model)
    return lambda texts: loaded.encode(texts, show_progress_bar=False)


def _model2vec(model: str) -> Encode:
    from model2vec import StaticModel

    encode: Encode = StaticModel.from_pretrained(model).encode
    return encode


def _fastembed(model: str) -> Encode:
    from fastembed import TextEmbedding

    loaded = TextEmbedding(model)
    return lambda texts: list(loaded.embed(texts))


LOADERS: Mapping[str, Callable[[str], Encode]] = {
    WORDLLAMA: _wordllama,
    "sentence-transformers": _sentence_transformers,
    "model2vec": _model2vec,
    "fastembed": _fastembed,
}
"""Mapping from package name to a function that loads a model of this package by name."""


@contextmanager
def _unchanged_logging() -> Iterator[None]:
    """Restore the root logger after the ``with`` block.

    Importing wordllama makes all packages log.
    """
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers

"""Encoder of text columns that uses embedding vectors of a pretrained text encoder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, MissingExtraError, UnknownNameError
from nodegraft.base.events import SILENT, Listener
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import finding
from nodegraft.tables.features.encoder import Arrays, ColumnEncoder, Encoded
from nodegraft.tables.features.text import joined_texts
from nodegraft.tables.features.text_encoders import SAME, LoadedEncoder

BATCH = 1024
"""Number of texts that are passed to a text encoder at once."""


@dataclass(frozen=True, eq=False)
class EmbeddedText(ColumnEncoder):
    """Encoder that joins text columns to one text per node and computes its embedding vector.

    The vector of a missing text is all zeros.
    """

    columns: tuple[str, ...]
    """Names of the text columns."""

    encoder: str
    """Name of the text encoder."""

    package: str
    """Name of the Python package that provides the text encoder."""

    version: str
    """Version of this package when the recipe was fitted."""

    fingerprint: NDArray[np.float32]
    """Vectors of the texts ``text_encoders.PROBES`` when the recipe was fitted."""

    @classmethod
    def of(cls, columns: tuple[str, ...], encoder: str) -> "EmbeddedText":
        """Create an encoder that stores version and fingerprint of the installed model."""
        loaded = LoadedEncoder.load(encoder)
        return cls(columns, encoder, loaded.package, loaded.version, loaded.fingerprint)

    def encode(
        self,
        table: SourceTable,
        keys: NDArray[Any],
        listener: Listener = SILENT,
        together: Sequence[str] = (),
    ) -> Encoded:
        """Return an embedding vector for each row; equal texts are encoded only once.

        Args:
            keys: Node key of each row, shown in findings.
            together: Names of all text encoders of the recipe, for error messages.
        """
        texts = joined_texts(table, self.columns)
        places = {text: place for place, text in enumerate(dict.fromkeys(filter(str.strip, texts)))}
        different, vectors = list(places), list[NDArray[np.float32]]()
        for start in range(0, len(different), BATCH):
            rows = self._same_encoder(together).vectors(different[start : start + BATCH])
            if rows.shape[1] != self.fingerprint.shape[1]:
                raise DataError(
                    f"Text encoder {self.encoder!r} gave vectors of width {rows.shape[1]} for some "
                    f"texts and {self.fingerprint.shape[1]} for others: all must have one width."
                )
            vectors.append(rows)
            listener.step("encode texts", min(start + BATCH, len(different)), len(different))
        # Append a row of zeros, which index -1 selects for missing texts.
        rows = np.concatenate([*vectors, np.zeros_like(self.fingerprint[:1])])
        positions = np.array([places.get(text, -1) for text in texts], dtype=np.int64)
        missing = np.flatnonzero(positions < 0)
        what = "nodes whose text is missing"
        return Encoded(rows[positions], tuple(finding(what, missing.size, keys[missing[:3]])))

    def _same_encoder(self, together: Sequence[str]) -> LoadedEncoder:
        """Load the text encoder; raise an error if it is not the model of the fit."""
        try:
            loaded = LoadedEncoder.load(self.encoder)
        except UnknownNameError as error:
            raise MissingExtraError(
                f"The features were made by text encoder {self.encoder!r} of {self.package} "
                f"{self.version}, which is not installed: pip install "
                f"{self.package}=={self.version}"
            ) from error
        now = loaded.fingerprint
        if (
            now.shape != self.fingerprint.shape
            or np.linalg.norm(now - self.fingerprint, axis=1).max() > SAME
        ):
            options = " ".join(f"--encoder {name}" for name in together or [self.encoder])
            raise DataError(
                f"Text encoder {self.encoder!r} gives other vectors now ({loaded.package} "
                f"{loaded.version}) than those that the features were made of ({self.package} "
                f"{self.version}), and the two cannot be mixed: install {self.package} "
                f"{self.version} and the model of that time, or encode all nodes again: nodegraft "
                f"refit STORE {options} --nodes TABLE. For a build, use a new folder."
            )
        return loaded

    @property
    def feature_names(self) -> list[str]:
        """Name of each feature: ``encoder[i]`` for position i in the embedding vector."""
        return [f"{self.encoder}[{place}]" for place in range(self.fingerprint.shape[1])]

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> Self:
        """Restore the encoder from its :meth:`state`; the model is loaded on first use."""
        fingerprint = arrays["fingerprint"]
        if fingerprint.ndim != 2 or fingerprint.dtype != np.float32:
            raise ValueError("the fingerprint must have a vector for each probe text")
        return super().from_state(arrays, document)

"""Results that can be converted to Arrow tables and DataFrames."""

import json
from dataclasses import fields
from typing import Any, TypeVar

from nodegraft.base.errors import MissingExtraError

Record = TypeVar("Record")


class Tabular:
    """Result that can be converted to an Arrow table."""

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame; pandas must be installed."""
        try:
            return self.to_arrow().to_pandas()
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                "A DataFrame needs pandas: pip install pandas. to_arrow() needs nothing more."
            ) from error


class Records(list[Record], Tabular):
    """List of dataclasses of one class that can be converted to a table."""

    def to_arrow(self) -> Any:
        """Return a table with a column for each field; dicts become JSON."""
        # Imported here because it is slow to import.
        import pyarrow as pa

        names = [field.name for field in fields(self[0])] if self else []  # type: ignore[arg-type]
        return pa.table({name: [_cell(getattr(item, name)) for item in self] for name in names})


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value

"""What can be had as a table: for notebooks, and for whatever comes after."""

import json
from dataclasses import fields
from typing import Any, TypeVar

from nodegraft.base.errors import MissingExtraError

Record = TypeVar("Record")


class Tabular:
    """Whatever can say what it is as an Arrow table."""

    def to_arrow(self) -> Any:
        """As a pyarrow.Table."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The same as a pandas.DataFrame; pandas must be installed."""
        try:
            return self.to_arrow().to_pandas()
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                "A DataFrame needs pandas: pip install pandas. to_arrow() needs nothing more."
            ) from error


class Records(list[Record], Tabular):
    """A list of dataclasses, all of one class, that is a table, too."""

    def to_arrow(self) -> Any:
        """A column for each field; what is a dict in there is JSON."""
        # Slow to import, and whoever prints a list needs none.
        import pyarrow as pa

        names = [field.name for field in fields(self[0])] if self else []  # type: ignore[arg-type]
        return pa.table({name: [_cell(getattr(one, name)) for one in self] for name in names})


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value

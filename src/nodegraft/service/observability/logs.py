"""Logs as JSON lines: caller, route and status. They contain no token, node key or feature."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from nodegraft.base import errors

OWN_ERROR = f"\n{errors.__name__}."
"""Start of the line of a nodegraft error in a traceback."""


class JsonLines(logging.Formatter):
    """One JSON object for each record; ``extra={"fields": {…}}`` adds fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        message = record.getMessage()
        if message.startswith("Traceback"):
            # Uvicorn logs why a service cannot start as a traceback; our errors need none.
            error = message.rpartition(OWN_ERROR)[2].strip()
            message = message if "\nTraceback" in error else error
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": message,
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": JsonLines}},
    "handlers": {"terminal": {"class": "logging.StreamHandler", "formatter": "lines"}},
    "loggers": {
        name: {"handlers": ["terminal"], "level": "INFO", "propagate": False}
        for name in ("uvicorn", "nodegraft")
    },
}
"""Configuration for :func:`logging.config.dictConfig`."""

"""Logs as lines of JSON: who asked for what, how it ended. No token, no node, no feature."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from nodegraft.base import errors

OWN_ERROR = f"\n{errors.__name__}."
"""How the name of an error of ours begins in a traceback."""


class JsonLines(logging.Formatter):
    """One JSON object for each record; ``extra={"told": {…}}`` adds to it."""

    def format(self, record: logging.LogRecord) -> str:
        """As a line."""
        message = record.getMessage()
        if message.startswith("Traceback"):
            # So uvicorn tells why a service cannot start. An error of ours says what to do itself.
            told = message.rpartition(OWN_ERROR)[2].strip()
            message = message if "\nTraceback" in told else told
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": message,
            **getattr(record, "told", {}),
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
        for name in ("uvicorn", "nodegraft.service")
    },
}
"""How a service logs, for :func:`logging.config.dictConfig`."""

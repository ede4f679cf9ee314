"""Logs as lines of JSON: who asked for what, how it ended. No token, no node, no feature."""

import json
import logging
from datetime import UTC, datetime
from typing import Any


class JsonLines(logging.Formatter):
    """One JSON object for each record; ``extra={"told": {…}}`` adds to it."""

    def format(self, record: logging.LogRecord) -> str:
        """As a line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
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

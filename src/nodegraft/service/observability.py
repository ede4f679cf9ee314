"""Logs and metrics of a service."""

import json
import logging
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from nodegraft.base import errors

OWN_ERROR = f"\n{errors.__name__}."
"""Start of the line of a traceback that contains a nodegraft error."""


class JsonLines(logging.Formatter):
    """Log formatter that writes a JSON object per record; ``extra={"fields": {…}}`` adds fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a log record as one line of JSON."""
        message = record.getMessage()
        if message.startswith("Traceback"):
            # Uvicorn logs a startup failure as a traceback; show only the message of our errors.
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


if TYPE_CHECKING:
    from nodegraft.service.live.live import Live

SEVERAL_WORKERS = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable of prometheus_client: folder in which worker processes share metrics."""

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Prometheus metrics: requests by route and status, their durations, and the live version."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "nodegraft_requests",
            "Requests, by route and status",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "nodegraft_request_seconds",
            "Duration of requests, by route",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._swaps = Counter(
            "nodegraft_swaps", "Changes of the live version", registry=self._registry
        )
        self._version, self._nodes, self._classes = (
            Gauge(f"nodegraft_{name}", text, registry=self._registry, multiprocess_mode="livemin")
            for name, text in (
                ("model_version", "Live version"),
                ("nodes", "Nodes of its graph"),
                ("classes", "Known classes"),
            )
        )

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request.

        Args:
            route: Path pattern of the route, because the number of different paths is unlimited.
        """
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def count_swap(self, live: "Live") -> None:
        """Record a version that becomes live."""
        self._swaps.inc()
        self._version.set(live.version)
        self._nodes.set(live.state.graph.num_nodes)
        self._classes.set(len(live.state.labels))

    def text(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        registry, counts = self._registry, os.environ.get(SEVERAL_WORKERS)
        if counts:
            drop_dead_workers(Path(counts))
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def drop_dead_workers(counts: Path) -> None:
    """Delete gauges of worker processes that have ended; their counters remain.

    Args:
        counts: Folder in which worker processes share metrics.
    """
    for file in counts.glob("gauge_live*.db"):
        worker = int(file.stem.rpartition("_")[2])
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            mark_process_dead(worker, str(counts))  # type: ignore[no-untyped-call]

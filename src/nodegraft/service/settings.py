"""Settings of a service, and the environment variables that enable traces."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from nodegraft.analysis.version import now
from nodegraft.base.errors import ParameterError
from nodegraft.service.auth.limits import FAILED_TOKENS, JOB_SECONDS, NOTICE_SECONDS, RATE
from nodegraft.store.access import TokenList

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Host names that only this machine can reach."""

EXPORTERS = "OTEL_TRACES_EXPORTER"
"""Environment variable of OpenTelemetry that selects where to send spans."""

PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
"""Environment variables for the protocol of the collector; the first that is set is used."""

KNOWN_EXPORTERS = ("otlp", "console")
PROTOCOL = "http/protobuf"
"""Trace protocol that the service supports; others are refused."""


@dataclass(frozen=True)
class Settings:
    """Settings of a service."""

    store: Path
    """Folder of the store."""

    host: str = "127.0.0.1"
    """Address to listen on; by default only this machine can reach it."""

    port: int = 8000
    """Port to listen on; 0 for any free port."""

    workers: int = 1
    """Number of worker processes."""

    names: tuple[str, ...] = ()
    """Additional host names of the service; requests with any other Host header are refused."""

    rate: float = RATE
    """Rate limit of a caller in requests per second; 0 for no limit."""

    behind_proxy: bool = False
    """Whether another server (Ray Serve) listens; then callers always need a token."""

    failed_tokens: float = FAILED_TOKENS
    """Unknown tokens per minute and address, above which it gets status 429; 0: no limit."""

    job_seconds: float = JOB_SECONDS
    """Timeout of a change in seconds; the process that makes it is killed then."""

    notice_seconds: float = NOTICE_SECONDS
    """Seconds to continue serving after SIGTERM, while `/readyz` reports false."""

    @property
    def hosts(self) -> frozenset[str]:
        """Host names that are accepted in a Host header."""
        return frozenset(name.lower() for name in (*LOOPBACK, self.host, *self.names))

    def address(self, port: int) -> str:
        """Return the URL of the service.

        >>> Settings(Path("shop"), host="::1").address(8000)
        'http://[::1]:8000'
        """
        return f"http://[{self.host}]:{port}" if ":" in self.host else f"http://{self.host}:{port}"

    def check(self, tokens: TokenList) -> None:
        """Refuse settings that would let anybody change the store, or that no caller could use."""
        if not tokens.valid(now()):
            self._check_without_tokens(tokens.required)
        if self.host in ("0.0.0.0", "::") and not self.names:  # noqa: S104
            raise ParameterError(
                f"--host {self.host} listens on every address of this machine: give the host names "
                "that callers use with --name shop.example."
            )

    def _check_without_tokens(self, had_tokens: bool) -> None:
        advice = "Add one first: nodegraft token add STORE --name NAME --scope read"
        if had_tokens:
            raise ParameterError(
                "All API tokens of this store were revoked or have expired, or its database was "
                "restored from a copy without them, so every request would be refused. "
                f"{advice}."
            )
        if self.is_private:
            return
        if self.is_loopback:
            raise ParameterError(
                "With --name the service is for callers on other machines, but this store has no "
                f"API token: anyone could change it. {advice}, or omit --name."
            )
        who = "A cluster" if self.behind_proxy else self.host
        instead = "" if self.behind_proxy else ", or listen on 127.0.0.1"
        raise ParameterError(
            f"{who} can be reached from other machines, but this store has no API token: anyone "
            f"could change it. {advice}{instead}."
        )

    @property
    def is_private(self) -> bool:
        """Whether only this machine is served, so that a store needs no tokens."""
        return self.is_loopback and not self.names

    @property
    def is_loopback(self) -> bool:
        """Whether the host is a loopback address, which only this machine can reach."""
        if self.behind_proxy:
            return False
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False


def trace_exporters(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the destinations of spans; none by default.

    >>> trace_exporters({}), trace_exporters({"OTEL_TRACES_EXPORTER": "otlp,console"})
    ((), ('otlp', 'console'))
    """
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ()
    names = (name.strip().lower() for name in environment.get(EXPORTERS, "").split(","))
    exporters = tuple(dict.fromkeys(name for name in names if name not in ("", "none")))
    for name in exporters:
        if name not in KNOWN_EXPORTERS:
            raise ParameterError(
                f"{EXPORTERS} has an unknown value {name!r}. Use {' or '.join(KNOWN_EXPORTERS)}, "
                "or unset it to switch off traces."
            )
    protocol = next((environment[name] for name in PROTOCOLS if environment.get(name)), PROTOCOL)
    if "otlp" in exporters and protocol != PROTOCOL:
        raise ParameterError(
            f"{PROTOCOLS[1]} is {protocol!r}, but a service sends traces by {PROTOCOL}: unset it, "
            "and give the collector's HTTP port (usually 4318)."
        )
    return exporters

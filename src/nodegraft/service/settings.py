"""How a service is run."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from nodegraft.analysis.version import now
from nodegraft.base.errors import ParameterError
from nodegraft.service.auth.limits import FAILED_TOKENS, JOB_SECONDS, NOTICE_SECONDS, RATE
from nodegraft.store.access.access import TokenList

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""What this machine is called by itself."""


@dataclass(frozen=True)
class Settings:
    """What is served, to whom."""

    store: Path
    """The folder of the store."""

    host: str = "127.0.0.1"
    """The address to listen on: by default only this machine can reach it."""

    port: int = 8000
    """The port to listen on; 0 for one that is free."""

    workers: int = 1
    """How many processes answer."""

    names: tuple[str, ...] = ()
    """What callers call this host, in addresses they type: any other Host header is refused."""

    rate: float = RATE
    """Requests of one caller in a second; 0 for no limit."""

    behind_others: bool = False
    """Whether somebody else listens for it, wherever they like: callers always need a token."""

    failed_tokens: float = FAILED_TOKENS
    """Unknown tokens from one address in a minute, before it gets 429 for them; 0 for no limit."""

    job_seconds: float = JOB_SECONDS
    """How long one change may take before the process that makes it is stopped."""

    notice_seconds: float = NOTICE_SECONDS
    """How long the service still serves after SIGTERM, with `/readyz` false."""

    @property
    def hosts(self) -> frozenset[str]:
        """All names that a Host header may have."""
        return frozenset(name.lower() for name in (*LOOPBACK, self.host, *self.names))

    def address(self, port: int) -> str:
        """Where it answers, as browsers take it.

        >>> Settings(Path("shop"), host="::1").address(8000)
        'http://[::1]:8000'

        Args:
            port: The port that it got.
        """
        return f"http://[{self.host}]:{port}" if ":" in self.host else f"http://{self.host}:{port}"

    def check(self, tokens: TokenList) -> None:
        """Refuse a service that everybody could use, or nobody.

        Args:
            tokens: The tokens of the store.
        """
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
                "All API tokens of this store were revoked or have expired, so every request would "
                f"be refused. {advice}."
            )
        if self.is_private:
            return
        if self.is_loopback:
            raise ParameterError(
                "With --name the service is for callers on other machines, but this store has no "
                f"API token: anyone could change it. {advice}, or omit --name."
            )
        who = "A cluster" if self.behind_others else self.host
        instead = "" if self.behind_others else ", or listen on 127.0.0.1"
        raise ParameterError(
            f"{who} can be reached from other machines, but this store has no API token: anyone "
            f"could change it. {advice}{instead}."
        )

    @property
    def is_private(self) -> bool:
        """Whether only this machine is meant to use it: a store without tokens is served then."""
        return self.is_loopback and not self.names

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.behind_others:
            return False
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False

"""Cache of a store's API tokens, refreshed in the background.

Requests are refused if the cache is too old.
"""

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from hmac import compare_digest
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic

from anyio.to_thread import run_sync

from nodegraft.analysis.version import now
from nodegraft.base.errors import NodegraftError
from nodegraft.service.auth.limits import TOKEN_SECONDS, TOKEN_STALE_SECONDS
from nodegraft.service.errors import HttpError
from nodegraft.store.access import (
    USE_INTERVAL,
    StoreTokens,
    Token,
    TokenList,
    secret_digest,
)
from nodegraft.store.scope import Scope

__all__ = ["Scope", "Token", "TokenCache"]

LOG = logging.getLogger("nodegraft.service")


@dataclass(frozen=True)
class _Reading:
    """Tokens, and the time at which they were read from the database."""

    listed: TokenList
    read_at: float


class TokenCache:
    """Cache of a store's API tokens, at most about a second old; requests rarely use the database.

    Only a request with an unknown token waits for the database: the tokens are read again before
    the request is refused, so that a new token works at once. If the database does not respond,
    cached tokens are used for :data:`~nodegraft.service.auth.limits.TOKEN_STALE_SECONDS`; after
    that, every request is refused with 503.

    Args:
        store: Folder of the store.
    """

    def __init__(self, store: Path) -> None:
        self._place = store
        self._stored: StoreTokens | None = None
        self._reading: _Reading | None = None
        self._reading_lock = Lock()
        self._last_uses: dict[str, datetime] = {}  # Token digest -> time of its last use.
        self._pending: dict[str, datetime] = {}
        self._failure = ""  # Last error, stored so that it is logged only once.
        self._logged_uses = False
        self._ending = Event()
        self._thread = Thread(target=self._follow, name="tokens", daemon=True)

    def start(self) -> None:
        """Read the tokens, or raise an error; then start refreshing them in the background."""
        self._stored = StoreTokens.open(self._place)
        try:
            self._refresh(monotonic())
        except NodegraftError:
            self._stored.close()
            raise
        self._thread.start()

    def stop(self) -> None:
        """Stop the refresh thread, store the last uses of tokens, and close the database."""
        if self._thread.is_alive():
            self._ending.set()
            self._thread.join()
        if self._stored:
            self._stored.close()

    def current(self) -> TokenList:
        """Return the cached tokens; refuse the request if they are too old."""
        reading = self._reading
        if reading is None or monotonic() - reading.read_at > TOKEN_STALE_SECONDS:
            message = "The API tokens of this store cannot be read, so all requests are refused."
            advice = "Send it again in a few seconds; the log of the service has the reason."
            raise HttpError(503, "tokens_unavailable", message, advice, {"Retry-After": "5"})
        return reading.listed

    def find(self, secret: str) -> Token | None:
        """Return the valid cached token with this secret; None if there is none."""
        digest, at = secret_digest(secret), now()
        # Compare all digests in constant time, so that the duration reveals nothing about secrets.
        matches = [token for token in self.current().tokens if compare_digest(token.digest, digest)]
        if not matches or matches[0].is_expired(at):
            return None
        self._note_use(matches[0], at)
        return matches[0]

    async def find_new(self, secret: str) -> Token | None:
        """Read the tokens again; return the valid token with this secret, or None."""
        await run_sync(self._try_to_refresh, monotonic())
        return self.find(secret)

    def _note_use(self, token: Token, at: datetime) -> None:
        before = max(
            filter(None, (token.last_used_at, self._last_uses.get(token.digest))), default=None
        )
        if before is None or at - before >= USE_INTERVAL:
            self._last_uses[token.digest] = self._pending[token.digest] = at

    def _follow(self) -> None:
        while not self._ending.wait(TOKEN_SECONDS):
            self._try_to_refresh(monotonic())
            self._write_uses()
        self._write_uses()

    def _try_to_refresh(self, since: float) -> None:
        try:
            self._refresh(since)
            self._failure = ""
        except Exception as error:
            # Keep the cached tokens after any error; `current` refuses requests when the tokens are
            # too old.
            if repr(error) != self._failure:
                LOG.exception("the tokens of the store cannot be read")
            self._failure = repr(error)

    def _refresh(self, since: float) -> None:
        """Read the tokens, unless another thread has read them after a (monotonic) time."""
        # Wait with a timeout: if the database hangs, this thread must not block other requests.
        if not self._reading_lock.acquire(timeout=TOKEN_SECONDS):
            return
        try:
            if self._stored and (self._reading is None or self._reading.read_at < since):
                read_at, listed = monotonic(), self._stored.read()
                if self._reading and self._reading.listed.required and not listed.required:
                    # Require tokens even if the database has none: a restored backup may be older
                    # than the first token.
                    listed = replace(listed, required=True)
                self._reading = _Reading(listed, read_at)
        finally:
            self._reading_lock.release()

    def _write_uses(self) -> None:
        uses = {}
        while self._pending:
            # Pop entries one at a time, because other threads may add entries at the same time.
            digest, at = self._pending.popitem()
            uses[digest] = at
        if not (uses and self._stored):
            return
        try:
            self._stored.record_use(uses)
        except Exception as error:
            # If the last use cannot be stored, only log it: the database may be read-only or busy.
            if not self._logged_uses:
                LOG.warning("the last use of tokens cannot be written: %s", error)
            self._logged_uses = True

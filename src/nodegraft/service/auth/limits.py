"""Limits of requests, connections and times."""

MAX_BYTES = 8 * 2**20
"""Size of a request body."""

MAX_KEYS = 10_000
"""Nodes, labels or rows in one request."""

MAX_LISTED = 1_000
"""Rows of one list in a response."""

BODY_SECONDS = 10.0
"""Timeout of the head of a request, and of its body."""

SEND_SECONDS = 30.0
"""Timeout of a response that the caller does not read."""

MAX_CONNECTIONS = 1_000
"""Open connections of one process; at the limit, one that waits for a request is closed first."""

BACKLOG = 1_024
"""Connections that wait to be accepted."""

JOB_SECONDS = 600.0
"""Timeout of one change; its process is stopped then."""

TURN_SECONDS = 30.0
"""How long a change waits for those before it."""

DRAIN_SECONDS = 30
"""How long a service that is stopped waits for the requests in progress."""

NOTICE_SECONDS = 2.0
"""Seconds to serve after SIGTERM, while /readyz reports false."""

START_SECONDS = 60
"""Timeout of a worker's heartbeat; a worker that starts imports models, which takes long."""

RATE = 200.0
"""Requests per second of one caller, averaged over some seconds."""

FAILED_TOKENS = 60.0
"""Unknown tokens per minute from one address."""

TOKEN_SECONDS = 1.0
"""How often the tokens of a store are read: a revoked token is refused within this time."""

TOKEN_STALE_SECONDS = 10.0
"""How long tokens are used while the database does not respond; then all requests are refused."""

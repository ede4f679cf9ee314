"""Limits of request sizes, connections and times; this module does not import optional packages."""

MAX_BYTES = 8 * 2**20
"""Maximum size of a request body in bytes."""

MAX_KEYS = 10_000
"""Maximum number of nodes, labels or rows in a request."""

MAX_LISTED = 1_000
"""Maximum number of rows of a list in a response."""

BODY_SECONDS = 10.0
"""Timeout in seconds for receiving the head of a request, and for receiving its body."""

SEND_SECONDS = 30.0
"""Timeout in seconds for sending a response to a caller who does not read it."""

MAX_CONNECTIONS = 1_000
"""Maximum number of open connections per process; above it, an idle connection is closed first."""

BACKLOG = 1_024
"""Maximum number of connections that wait to be accepted."""

JOB_SECONDS = 600.0
"""Timeout of a change in seconds; the process that makes it is killed then."""

TURN_SECONDS = 30.0
"""Timeout in seconds for a change that waits for earlier changes."""

DRAIN_SECONDS = 30
"""Timeout in seconds for requests in progress when the service stops."""

NOTICE_SECONDS = 2.0
"""Seconds to continue serving after SIGTERM, while /readyz reports false."""

START_SECONDS = 60
"""Timeout in seconds for a worker's heartbeat; a starting worker needs time to import models."""

RATE = 200.0
"""Average rate limit of a caller, in requests per second."""

FAILED_TOKENS = 60.0
"""Maximum number of unknown tokens per minute from an IP address."""

TOKEN_SECONDS = 1.0
"""Interval in seconds at which tokens are read; a revoked token is refused within this time."""

TOKEN_STALE_SECONDS = 10.0
"""Seconds for which cached tokens are used while the database fails."""

"""How much one caller may ask for at once, and how long anything may take."""

MOST_BYTES = 8 * 2**20
"""Of a request's body."""

MOST_KEYS = 10_000
"""Nodes in one question, labels in one lesson, rows in one table."""

MOST_LISTED = 1_000
"""Rows of one list."""

BODY_SECONDS = 10.0
"""In which a request must have come whole, its head and its body each."""

SEND_SECONDS = 30.0
"""How long a response waits for a caller who does not read it."""

MOST_CONNECTIONS = 1_000
"""Open connections of one process; at the cap, one that waits for a request is closed first."""

BACKLOG = 1_024
"""Connections that wait to be accepted."""

JOB_SECONDS = 600.0
"""How long one change may take before the process that makes it is stopped."""

TURN_SECONDS = 30.0
"""How long a change waits for those before it."""

DRAIN_SECONDS = 30
"""How long a service that is told to stop waits for requests that it has begun."""

NOTICE_SECONDS = 2.0
"""How long a service still serves after SIGTERM, with /readyz false."""

START_SECONDS = 60
"""How long a worker may say nothing before it is replaced: one that starts imports models."""

RATE = 200.0
"""Requests of one caller in a second, over some seconds."""

FAILED_TOKENS = 60.0
"""Unknown tokens from one address in a minute."""

TOKEN_SECONDS = 1.0
"""How often the tokens of a store are read: a token that is revoked is refused within this time."""

TOKEN_STALE_SECONDS = 10.0
"""How long tokens that were read are used while the database does not answer; then every request
is refused until it does."""

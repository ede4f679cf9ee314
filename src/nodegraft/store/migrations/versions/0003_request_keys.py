"""Keys of requests, found without reading every row, and used once."""

from alembic import op
from sqlalchemy import text

from nodegraft.store.journal import REQUEST_KEY

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """An index of what is in the rows already."""
    key = REQUEST_KEY[op.get_bind().dialect.name]
    op.create_index("versions_request", "versions", [text(f"({key})")], unique=True)

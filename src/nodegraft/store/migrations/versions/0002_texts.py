"""Texts of nodes, for people to read."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Versions may name an object of texts; those that are there have none."""
    op.add_column("versions", sa.Column("texts", sa.String(64)))

"""Create all tables of nodegraft 0.1.0. Each revision has the number of its release."""

import sqlalchemy as sa
from alembic import op

from nodegraft.store.versions.journal import REQUEST_KEY

revision = "0100"
down_revision = None


def upgrade() -> None:
    """Create all tables and the index of request keys."""
    op.create_table(
        "versions",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("parent", sa.Integer, sa.ForeignKey("versions.number")),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("graph", sa.String(64), nullable=False),
        sa.Column("labels", sa.String(64), nullable=False),
        sa.Column("model", sa.String(64), nullable=False),
        sa.Column("measures", sa.JSON, nullable=False),
        sa.Column("texts", sa.String(64)),
    )
    # The index makes request keys unique, and finds a key without reading every row.
    key = REQUEST_KEY[op.get_bind().dialect.name]
    op.create_index("versions_request", "versions", [sa.text(f"({key})")], unique=True)
    op.create_table(
        "promotions",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("version", sa.Integer, sa.ForeignKey("versions.number"), nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "settings",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("value", sa.JSON, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("scope", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True)),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )

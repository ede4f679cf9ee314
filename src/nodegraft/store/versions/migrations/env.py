"""Where Alembic finds the database: the connection it is given."""

from alembic import context

from nodegraft.store.versions.journal import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # One transaction for all: a cut leaves the tables before or the tables after.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()

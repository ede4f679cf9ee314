"""Alembic environment that uses the database connection of its caller."""

from alembic import context

from nodegraft.store.versions.journal import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # Run all revisions in one transaction, so that an interrupted migration changes nothing.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()

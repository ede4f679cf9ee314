"""Environment of Alembic: it uses the connection that it is given."""

from alembic import context

from nodegraft.store.versions.journal import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # One transaction for all revisions, so that an interruption changes nothing.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()

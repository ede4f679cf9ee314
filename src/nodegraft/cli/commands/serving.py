"""Commands that let others ask a store: the service, and who may."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.expiry import parse_expiry
from nodegraft.cli.store_options import By, StorePlace
from nodegraft.service.limits import JOB_SECONDS, NOTICE_SECONDS, RATE
from nodegraft.store.access import Scope
from nodegraft.store.rows import now

if TYPE_CHECKING:
    from datetime import datetime

    from nodegraft.service.settings import Settings

TokenName = Annotated[str, typer.Option("--name", help="Whose token it is.")]


@user_errors
def serve(
    place: StorePlace,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.", min=0, max=65535)] = 8000,
    workers: Annotated[int, typer.Option(help="How many processes answer.", min=1)] = 1,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Answer by replicas on a Ray cluster; 'local' starts one here."
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", help="What callers call this host, as shop.example."),
    ] = None,
    rate: Annotated[
        float, typer.Option(help="Requests of one caller in a second; 0 for no limit.", min=0.0)
    ] = RATE,
    job_seconds: Annotated[
        float, typer.Option("--job-timeout", help="Seconds that one change may take.", min=1.0)
    ] = JOB_SECONDS,
    notice_seconds: Annotated[
        float,
        typer.Option(
            "--notice", help="Seconds to go on after SIGTERM, with /readyz false.", min=0.0
        ),
    ] = NOTICE_SECONDS,
) -> None:
    """Answer over HTTP; by default only to this machine."""
    from nodegraft.service.server import serve as run
    from nodegraft.service.settings import Settings

    settings = Settings(
        place,
        host,
        port,
        workers,
        tuple(names or ()),
        rate,
        job_seconds=job_seconds,
        notice_seconds=notice_seconds,
    )
    if ray is None:
        run(settings, lambda address: _tell(place, address))
    else:
        _serve_on_ray(settings, ray)


@user_errors
def add_token(
    place: StorePlace,
    name: TokenName,
    scope: Annotated[
        Scope, typer.Option(help="read asks; teach makes versions; admin chooses who answers.")
    ] = Scope.READ,
    expires: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Refuse the token after days (30d), hours (12h), or from a date on (2030-06-01).",
        ),
    ] = None,
    by: By = None,
) -> None:
    """Add a token for a caller; it is shown this once."""
    from nodegraft.store.tokens import StoreTokens

    expires_at = None if expires is None else parse_expiry(expires, now())
    with StoreTokens.open(place) as tokens:
        typer.echo(tokens.add(name, scope, expires_at=expires_at, by=by))


@user_errors
def list_tokens(place: StorePlace) -> None:
    """List the tokens of a store: scope, and when each was created, last used, and expires."""
    from rich.console import Console
    from rich.table import Table

    from nodegraft.store.tokens import StoreTokens

    with StoreTokens.open(place) as tokens:
        listed = tokens.read()
    table = Table(
        "name", "scope", "created (UTC)", "last used", "expires", box=None, pad_edge=False
    )
    for token in listed.tokens:
        expired = " (expired)" if token.is_expired(now()) else ""
        table.add_row(
            token.name,
            token.scope.value,
            _moment(token.created_at),
            _moment(token.last_used_at),
            _moment(token.expires_at) + expired,
        )
    empty = "This store has no token."
    if listed.required:
        empty = "All tokens of this store were revoked; it is not served until one is added."
    Console().print(table if table.row_count else empty, markup=False)


@user_errors
def revoke_token(place: StorePlace, name: TokenName, by: By = None) -> None:
    """Revoke a token: every host refuses it within about a second."""
    from nodegraft.store.tokens import StoreTokens

    with StoreTokens.open(place) as tokens:
        tokens.revoke(name, by=by)
    typer.echo(f"{name} is refused from now on.")


def _serve_on_ray(settings: "Settings", cluster: str) -> None:
    from nodegraft.base.hashing import content_hash
    from nodegraft.runners.ray_connection import LOCAL
    from nodegraft.runners.ray_serve import replicated, wait_for_signal  # Ray is an extra
    from nodegraft.service.replica import replica
    from nodegraft.service.server import check

    # Replicas have working folders of their own.
    store = settings.store.absolute()
    settings = replace(settings, store=store, behind_others=cluster != LOCAL)
    check(settings)
    if not settings.port:
        raise ParameterError("Ray Serve needs a number: choose a port that is free with --port.")
    with replicated(
        partial(replica, settings),
        # Two folders may be called the same, and each is served for itself.
        name=f"{store.name}-{content_hash(str(store))[:8]}",
        address=cluster,
        replicas=settings.workers,
        host=settings.host,
        port=settings.port,
    ):
        _tell(settings.store, settings.address(settings.port))
        wait_for_signal()


def _tell(place: Path, address: str) -> None:
    from nodegraft.store.tokens import StoreTokens

    with StoreTokens.open(place) as tokens:
        required = tokens.read().required
    who = "whoever has a token" if required else "all users of this machine"
    typer.echo(f"{place} will answer {who} at {address}; Ctrl+C ends it.", err=True)


def _moment(at: "datetime | None") -> str:
    return "never" if at is None else f"{at:%Y-%m-%d %H:%M}"

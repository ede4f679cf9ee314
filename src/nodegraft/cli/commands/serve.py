"""Commands of the help panel Serve: the HTTP service and its API tokens."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.analysis.version import now
from nodegraft.base.errors import ParameterError
from nodegraft.cli.inputs import parse_expiry
from nodegraft.cli.options import By, StorePlace
from nodegraft.cli.output import Output, command
from nodegraft.cli.render.maintenance import tokens_table
from nodegraft.cli.results.maintenance import AddedToken, RevokedToken, Token, Tokens
from nodegraft.cli.terminal import Terminal, line
from nodegraft.service.auth.limits import JOB_SECONDS, NOTICE_SECONDS, RATE
from nodegraft.store.scope import Scope

if TYPE_CHECKING:
    from nodegraft.service.settings import Settings

TokenName = Annotated[str, typer.Option("--name", help="Name of the token's owner.")]


@command
def serve(
    place: StorePlace,
    terminal: Terminal,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 for any.", min=0, max=65535)
    ] = 8000,
    workers: Annotated[int, typer.Option(help="Number of worker processes.", min=1)] = 1,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Serve from replicas on a Ray cluster; 'local' starts one here."
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", help="Host name that callers use, as shop.example."),
    ] = None,
    rate: Annotated[
        float, typer.Option(help="Requests per second of one caller; 0 for no limit.", min=0.0)
    ] = RATE,
    job_seconds: Annotated[
        float, typer.Option("--job-timeout", help="Timeout of one change, in seconds.", min=1.0)
    ] = JOB_SECONDS,
    notice_seconds: Annotated[
        float,
        typer.Option(
            "--notice",
            help="Seconds to serve after SIGTERM, while /readyz reports false.",
            min=0.0,
        ),
    ] = NOTICE_SECONDS,
) -> None:
    """Serve a store over HTTP, by default on this machine only."""
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
        run(settings, lambda address: _print_address(terminal, place, address))
    else:
        _serve_on_ray(terminal, settings, ray)


@command
def add_token(
    place: StorePlace,
    name: TokenName,
    scope: Annotated[
        Scope, typer.Option(help="read predicts; teach makes versions; admin promotes them.")
    ] = Scope.READ,
    expires: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Expire after days (30d) or hours (12h), or on a date (2030-06-01).",
        ),
    ] = None,
    by: By = None,
) -> Output[AddedToken]:
    """Add an API token and print it; it is shown only once."""
    from nodegraft.store.access import StoreTokens

    expires_at = None if expires is None else parse_expiry(expires, now())
    with StoreTokens.open(place) as tokens:
        token = tokens.add(name, scope, expires_at=expires_at, author=by)
    return Output(AddedToken(name, scope.value, expires_at, token), (line(token),))


@command
def list_tokens(place: StorePlace) -> Output[Tokens]:
    """List API tokens: scope, and when each was created, last used, and expires."""
    from nodegraft.store.access import StoreTokens

    with StoreTokens.open(place) as tokens:
        listed = tokens.read()
    rows = [
        Token(
            token.name,
            token.scope.value,
            token.created_at,
            token.last_used_at,
            token.expires_at,
            token.is_expired(now()),
        )
        for token in listed.tokens
    ]
    value = Tokens(listed.required, rows)
    return Output(value, (tokens_table(value),))


@command
def revoke_token(place: StorePlace, name: TokenName, by: By = None) -> Output[RevokedToken]:
    """Revoke an API token: every host refuses it within about a second."""
    from nodegraft.store.access import StoreTokens

    with StoreTokens.open(place) as tokens:
        tokens.revoke(name, author=by)
    return Output(RevokedToken(name), (f"Revoked the token {name}.",))


def _serve_on_ray(terminal: Terminal, settings: "Settings", cluster: str) -> None:
    from nodegraft.base.hashing import content_hash
    from nodegraft.runners.ray_connection import LOCAL
    from nodegraft.runners.ray_serve import replicated, wait_for_signal  # Ray is an optional extra.
    from nodegraft.service.server import check, replica

    # Use an absolute path, because each replica has its own working folder.
    store = settings.store.absolute()
    settings = replace(settings, store=store, behind_proxy=cluster != LOCAL)
    check(settings)
    if not settings.port:
        raise ParameterError("Ray Serve needs a port number: choose a free port with --port.")
    with replicated(
        partial(replica, settings),
        # The hash distinguishes stores whose folders have the same name.
        name=f"{store.name}-{content_hash(str(store))[:8]}",
        address=cluster,
        replicas=settings.workers,
        host=settings.host,
        port=settings.port,
    ):
        _print_address(terminal, settings.store, settings.address(settings.port))
        wait_for_signal()


def _print_address(terminal: Terminal, place: Path, address: str) -> None:
    from nodegraft.store.access import StoreTokens

    with StoreTokens.open(place) as tokens:
        required = tokens.read().required
    terminal.pause()
    callers = "callers with an API token" if required else "all users of this machine"
    typer.echo(f"Serving {place} to {callers} at {address} (stop with Ctrl+C).", err=True)


COMMANDS = {"serve": serve}
TOKEN_COMMANDS = {"add": add_token, "list": list_tokens, "revoke": revoke_token}

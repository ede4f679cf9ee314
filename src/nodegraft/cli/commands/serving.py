"""Commands that let others ask a store: the service, and who may."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import StorePlace
from nodegraft.service.limits import RATE
from nodegraft.service.tokens import Scope, Tokens

if TYPE_CHECKING:
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
) -> None:
    """Answer over HTTP; by default only to this machine."""
    from nodegraft.service.server import serve as run
    from nodegraft.service.settings import Settings

    settings = Settings(place, host, port, workers, tuple(names or ()), rate)
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
) -> None:
    """Make a token for a caller; it is shown this once."""
    typer.echo(_tokens_of(place).add(name, scope))


@user_errors
def list_tokens(place: StorePlace) -> None:
    """Who has a token, and what for."""
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "scope", box=None, pad_edge=False)
    for one in _tokens_of(place).listed():
        table.add_row(one.name, one.scope.value)
    Console().print(table if table.row_count else "This store has no token.", markup=False)


@user_errors
def revoke_token(place: StorePlace, name: TokenName) -> None:
    """Make a token worthless, at once."""
    _tokens_of(place).revoke(name)
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
    who = "whoever has a token" if Tokens(place).required else "all users of this machine"
    typer.echo(f"{place} will answer {who} at {address}; Ctrl+C ends it.", err=True)


def _tokens_of(place: Path) -> Tokens:
    from nodegraft.store.store import Store

    # A folder that is no store is told.
    with Store.open(place) as store:
        return Tokens(store.place)

"""Routes of a service whose store has several labels per node; all others are refused by name."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Body, Depends, Request, Response
from pydantic import Field, TypeAdapter

from nodegraft.analysis.label_sets.state import LabelSetState
from nodegraft.analysis.labels.changes import Change, changes_labels
from nodegraft.analysis.predictions import Missing
from nodegraft.analysis.results.label_sets import (
    LabelSetClasses,
    LabelSetComparison,
    LabelSetPredictions,
)
from nodegraft.analysis.results.versions import Changed
from nodegraft.analysis.version import Version
from nodegraft.base.errors import NodegraftError, SeveralLabelsError
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import (
    ChangeMaker,
    Changes,
    Note,
    Override,
    ReadVersion,
    router,
)
from nodegraft.service.live.live import Live
from nodegraft.service.routes import health, nodes, page, predict, versions
from nodegraft.service.routes.changes import ACTION, Name, Names
from nodegraft.service.schemas import Keys, LabelChange, Labels, RequestModel, Text
from nodegraft.store.intent import Intent
from nodegraft.store.label_set_changes import CHANGES
from nodegraft.store.several_labels import SeveralLabelsStore
from nodegraft.store.store import Store

PREDICTIONS = router("predictions", Scope.READ)
READ = router("classes", Scope.READ)
TEACH = router("classes", Scope.TEACH)

RESULT = TypeAdapter(LabelSetPredictions)

NO_PAGE = """<!doctype html>
<html lang="en">
<title>nodegraft</title>
<p>Labelling in the browser is not supported for a store with several labels per node.</p>
<p><a href="docs">Routes of this service</a></p>
</html>
"""
"""Page at `/`, in place of the labelling page."""


class PredictSets(RequestModel):
    """Request to predict the classes of nodes."""

    keys: Keys = Field(examples=[["nano", "vim"]])
    """Node keys."""

    missing: Missing = Field(default="null", examples=["null"])
    """What to do with keys that are not in the graph: `null` gives a node without classes, `skip`
    drops them, `error` refuses the whole request."""

    ignore_labels: bool = Field(default=False, examples=[False])
    """Leave out labels that are not predicted."""


class NewSets(LabelChange):
    """New classes with examples."""

    classes: Labels = Field(examples=[{"terminal": ["vim", "ed"]}])
    """New class -> keys of its nodes."""

    force_name: bool = False
    """Accept names that differ from another class name only by case or spaces."""


class NewLabels(LabelChange):
    """More labels of known classes; other classes of these nodes stay."""

    labels: Labels = Field(examples=[{"editor": ["nano"]}])
    """Known class -> keys of nodes that are not labels of it."""


class SetChange(LabelChange):
    """Fields that all requests of `/v1/changes` have."""

    action: str
    """Name of the change."""

    dry_run: bool = False
    """Only report the effect of the change, without making a version (status 200)."""

    def change(self) -> Change:
        """Return the change to apply to the store."""
        detail = self.model_dump(exclude=set(SetChange.model_fields), exclude_unset=True)
        return Change(self.action, detail)


class AddSets(NewSets, SetChange):
    """New classes with examples."""

    action: Literal["add"] = ACTION


class MoreSets(SetChange):
    """More labels of known classes; other classes of these nodes stay."""

    action: Literal["label"] = ACTION

    more: Labels = Field(examples=[{"editor": ["nano"]}])
    """Known class -> keys of nodes that are not labels of it."""


class FewerSets(SetChange):
    """Labels to remove; other classes of these nodes stay."""

    action: Literal["unlabel"] = ACTION

    labels: Labels = Field(examples=[{"editor": ["nano"]}])
    """Known class -> keys of its labels."""


class RemoveSets(SetChange):
    """Classes to remove."""

    action: Literal["remove"] = ACTION

    names: Names = Field(examples=[["terminal"]])
    """Names of the classes."""


class RenameSets(SetChange):
    """Class to rename."""

    action: Literal["rename"] = ACTION

    old: Text = Field(examples=["game"])
    """Current name."""

    new: Text = Field(examples=["games"])
    """New name."""

    force_name: bool = False
    """Accept a name that differs from another class name only by case or spaces."""


AnySetChange = Annotated[
    AddSets | MoreSets | FewerSets | RemoveSets | RenameSets, Body(discriminator="action")
]


async def _require_supported(request: Request) -> None:
    """Raise an error that names a change which only stores with one label per node have."""
    try:
        body = await request.json()
    except ValueError:
        return  # FastAPI refuses the body.
    action = body.get("action") if isinstance(body, dict) else None
    if isinstance(action, str) and changes_labels(action) and action not in CHANGES:
        raise SeveralLabelsError(f"The change {action!r}")


@PREDICTIONS.post(
    "/predict",
    response_model=LabelSetPredictions,
    responses={
        200: {"content": {predict.ARROW: {"schema": {"type": "string", "format": "binary"}}}}
    },
)
def predict_sets(request: PredictSets, live: ReadVersion, http: Request) -> Response:
    """Predict the classes of nodes, of which a node may have several, or none.

    With `Accept: application/vnd.apache.arrow.stream` the response is an Arrow stream with one row
    for each node and class; the other fields are JSON in the metadata `nodegraft` of its schema.
    """
    state = _state(live)
    if request.missing != "error":
        predict.require_key_type(state.graph, request.keys)
    options = (request.missing, request.ignore_labels)
    found = state.predict_keys(request.keys, live.version, *options)
    vary = {"Vary": "Accept"}
    if predict.prefers_arrow(http.headers.get("Accept", "")):
        stream = predict.arrow_stream(found, live.fields)
        return Response(stream, media_type=predict.ARROW, headers=vary)
    result = LabelSetPredictions(**live.fields, predictions=found.to_results())
    content = RESULT.dump_json(result, by_alias=True)
    return Response(content, media_type="application/json", headers=vary)


@READ.get("/classes")
def classes(live: ReadVersion) -> LabelSetClasses:
    """List all classes of a version."""
    return LabelSetClasses.of(live.row, _state(live).labels)


@TEACH.post(
    "/changes",
    status_code=201,
    dependencies=[Depends(_require_supported)],
    responses={200: {"model": LabelSetComparison, "description": "Dry run: nothing was changed"}},
)
async def change(
    request: AnySetChange, changes: Changes, response: Response
) -> Changed | LabelSetComparison:
    """Change labels or classes. This makes a new version, unless it is a dry run."""
    if not request.dry_run:
        return await _made(request.change(), request, changes)
    response.status_code = 200
    return await changes.service.writer.run(partial(_preview, request.change()))


@TEACH.post("/classes", status_code=201)
async def add(new: NewSets, changes: Changes) -> Changed:
    """Add new classes. This makes a new version."""
    detail = new.model_dump(include={"classes", "force_name"}, exclude_unset=True)
    return await _made(Change("add", detail), new, changes)


@TEACH.post("/labels", status_code=201)
async def label(more: NewLabels, changes: Changes) -> Changed:
    """Add labels of known classes. This makes a new version."""
    return await _made(Change("label", {"more": more.labels}), more, changes)


@TEACH.delete("/classes/{name:path}")
async def remove(name: Name, changes: Changes, note: Note = "", override: Override = "") -> Changed:
    """Remove a class. This makes a new version without the class."""
    reasons = LabelChange(note=note, override=override)
    return await _made(Change("remove", {"names": [name]}), reasons, changes)


@TEACH.post(
    "/nodes",
    status_code=201,
    responses={200: {"model": LabelSetComparison, "description": "Dry run: nothing was changed"}},
)
async def grow(
    new: nodes.NewRows, changes: Changes, response: Response
) -> Changed | LabelSetComparison:
    """Add nodes and edges. This makes a new version with a larger graph, unless it is a dry run."""
    tables = nodes.table_of(new.nodes, "nodes"), nodes.table_of(new.edges, "edges")
    if not new.dry_run:
        return await changes.response(partial(_grow, *tables), new.note)
    response.status_code = 200
    return await changes.service.writer.run(partial(_preview_grow, *tables))


async def _made(change: Change, reasons: LabelChange, changes: ChangeMaker) -> Changed:
    return await changes.response(partial(_make, change), reasons.note, reasons.override)


def routers(others: Iterator[APIRouter]) -> Iterator[APIRouter]:
    """Yield the routers of this service; paths that it lacks are refused by name.

    Args:
        others: Routers of a service with one label per node.
    """
    own = [PREDICTIONS, READ, TEACH]
    for module in (health, versions):
        own += [value for value in vars(module).values() if isinstance(value, APIRouter)]
    supported = {
        (getattr(route, "path", ""), method)
        for part in own
        for route in part.routes
        for method in getattr(route, "methods", ())
    }
    yield from own
    refusing, pages = router("refused", Scope.READ, prefix=""), APIRouter(include_in_schema=False)
    pages.get("/")(_no_page)
    for part in others:
        for route in part.routes if part is not page.ROUTER else ():
            path = getattr(route, "path", "")
            for method in sorted({*getattr(route, "methods", ())}):
                if (path, method) not in supported:
                    refusing.add_api_route(path, _refuse, methods=[method], include_in_schema=False)
    yield from (pages, page.ROUTER, refusing)


async def _refuse(request: Request) -> Response:
    """Raise an error that names the route."""
    raise SeveralLabelsError(f"{request.method} {request.url.path}")


async def _no_page() -> Response:
    """Return a page that says that labelling in the browser is not supported."""
    return Response(NO_PAGE, media_type="text/html", headers=page.HEADERS)


def _state(live: Live) -> LabelSetState:
    return cast("LabelSetState", live.state)


def _make(change: Change, store: Store, intent: Intent) -> Version:
    return store.change(change, intent=intent)


def _preview(change: Change, store: Store) -> LabelSetComparison:
    own = cast("SeveralLabelsStore", store)
    return LabelSetComparison.of(own.version(), own.preview(change))


def _grow(new_nodes: Any, edges: Any, store: Store, intent: Intent) -> Version:
    return store.grow(new_nodes, edges, intent=intent)


def _preview_grow(new_nodes: Any, edges: Any, store: Store) -> LabelSetComparison:
    own = cast("SeveralLabelsStore", store)
    return LabelSetComparison.of(own.version(), own.preview_grow(new_nodes, edges))


def has_several_labels(place: Path) -> bool:
    """Return whether a store has several labels per node; false if it cannot be opened.

    Args:
        place: Folder of the store.
    """
    try:
        with Store.open(place) as store:
            return store.has_several_labels
    except NodegraftError:
        # Starting the service raises this error again.
        return False

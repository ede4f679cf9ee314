"""The Open Inference Protocol, for clients of KServe and Triton.

https://github.com/kserve/open-inference-protocol
"""

from importlib.metadata import version
from math import prod
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from nodegraft.analysis.predictions import predict_keys
from nodegraft.base.errors import UnknownNodeError
from nodegraft.graph.keys import Key
from nodegraft.service.auth.limits import MAX_KEYS
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import READY, Served, router
from nodegraft.service.errors import HttpError
from nodegraft.service.live.live import Live
from nodegraft.service.schemas import InferenceError, error_responses
from nodegraft.service.service import Service

OUTPUTS: dict[str, Literal["BYTES", "FP64"]] = {
    "class": "BYTES",
    "confidence": "FP64",
    "label": "BYTES",
    "prediction": "BYTES",
    "probability": "FP64",
    "known": "FP64",
    "reason": "BYTES",
}
"""Name of each output -> its type. `class` and `confidence` stay first, because clients may read
them by position."""

TAG, ERRORS = "open inference protocol", error_responses(InferenceError)
OPEN = APIRouter(prefix="/v2", tags=[TAG], responses=ERRORS)
READ = router(TAG, Scope.READ, prefix="/v2", responses=ERRORS)

ModelName = Annotated[str, Path(description="Name of the model: that of the store's folder.")]


class ProtocolModel(BaseModel):
    """Base class of the protocol's models, which ignore additional fields."""

    model_config = ConfigDict(strict=True, use_attribute_docstrings=True, protected_namespaces=())


class Tensor(ProtocolModel):
    """Numbers or texts with their shape and type."""

    name: str = Field(examples=["keys"])
    """Name of the input or output."""

    shape: list[Annotated[int, Field(ge=0)]] = Field(max_length=2, examples=[[2]])
    """Shape: [n], or [n, 1]."""

    datatype: Literal["BYTES", "INT64", "FP64"] = Field(examples=["BYTES"])
    """Data type of the values, such as BYTES for text."""

    data: list[Any] = Field(max_length=MAX_KEYS, examples=[["p7", "p9"]])
    """Values: a flat list, or a list of lists with one value each."""


class InferenceParameters(ProtocolModel):
    """Parameters of a request."""

    missing: Literal["error", "null"] = Field(default="null", examples=["null"])
    """What to do with keys that are not in the graph: `null` gives them an empty class, zeros and
    the reason `unknown_key`; `error` refuses the whole request."""

    ignore_labels: bool = Field(default=False, examples=[False])
    """Whether `class` is the prediction even for labelled nodes, instead of their label."""


class InferenceRequest(ProtocolModel):
    """Request to predict the classes of nodes."""

    parameters: InferenceParameters | None = None
    """Parameters; null for the defaults."""

    id: str | None = Field(default=None, max_length=1_000, examples=["42"])
    """Identifier that the response repeats."""

    inputs: list[Tensor] = Field(min_length=1, max_length=1)
    """One input ``keys``: BYTES if keys are text, INT64 if they are integers."""


class InferenceResponse(ProtocolModel):
    """Predictions of nodes."""

    model_name: str = Field(examples=["shop"])
    """Name of the model."""

    model_version: str = Field(examples=["3"])
    """Number of the model's version."""

    id: str | None = Field(default=None, examples=["42"])
    """Identifier that the request had."""

    parameters: dict[str, str] = Field(examples=[{"graph_version": "9f86d081884c7d65"}])
    """``graph_version``, and ``world``: whether nodes may belong to unknown classes."""

    outputs: list[Tensor]
    """``class``, ``label``, ``prediction`` and ``reason`` (BYTES), ``confidence``, ``probability``
    and ``known`` (FP64). Tensors have no null: missing values are an empty text or 0, also in
    ``known`` if there is no estimate."""


@READ.get("")
async def server() -> dict[str, Any]:
    """Return name and version of the server."""
    return {"name": "nodegraft", "version": version("nodegraft"), "extensions": []}


@OPEN.get("/health/live")
async def alive() -> dict[str, bool]:
    """Check that the process is alive."""
    return {"live": True}


@OPEN.get("/health/ready", dependencies=[READY])
async def ready() -> dict[str, bool]:
    """Check that the service is ready."""
    return {"ready": True}


@READ.get("/models/{name}")
async def model(name: ModelName, service: Served) -> dict[str, Any]:
    """Return the names, types and shapes of the inputs and outputs of a model."""
    _require_model(service, name)
    live = service.now
    return {
        "name": name,
        "versions": [str(live.version)],
        "platform": f"nodegraft_{live.state.model.name}",
        "inputs": [{"name": "keys", "datatype": _datatype(live), "shape": [-1]}],
        "outputs": [
            {"name": name, "datatype": datatype, "shape": [-1]}
            for name, datatype in OUTPUTS.items()
        ],
        "parameters": _parameters(live),
    }


@READ.get("/models/{name}/ready")
async def model_ready(name: ModelName, service: Served) -> dict[str, Any]:
    """Check that a model is ready."""
    _require_model(service, name)
    return {"name": name, "ready": True}


@READ.post("/models/{name}/infer")
def infer(name: ModelName, request: InferenceRequest, service: Served) -> InferenceResponse:
    """Predict the classes of nodes."""
    _require_model(service, name)
    live = service.now
    keys = _keys(request.inputs[0], _datatype(live))
    parameters = request.parameters or InferenceParameters()
    try:
        rows = predict_keys(
            live.state,
            keys,
            live.version,
            missing=parameters.missing,
            ignore_labels=parameters.ignore_labels,
        ).to_rows()
    except UnknownNodeError as error:
        advice = 'Omit these keys, or send "parameters": {"missing": "null"}.'
        raise HttpError(404, "unknown_node", str(error), advice) from error
    return InferenceResponse(
        model_name=name,
        model_version=str(live.version),
        id=request.id,
        parameters=_parameters(live),
        outputs=[
            Tensor(
                name=name,
                shape=[len(rows)],
                datatype=datatype,
                data=[row[name] or ("" if datatype == "BYTES" else 0.0) for row in rows],
            )
            for name, datatype in OUTPUTS.items()
        ],
    )


def _require_model(service: Service, name: str) -> None:
    if name != service.name:
        message = f"There is no model {name!r}."
        raise HttpError(404, "unknown_model", message, f"Use {service.name!r}.")


def _parameters(live: Live) -> dict[str, str]:
    return {"graph_version": live.row.graph, "world": live.world}


def _datatype(live: Live) -> Literal["BYTES", "INT64"]:
    return "BYTES" if live.state.graph.has_text_keys else "INT64"


def _keys(tensor: Tensor, datatype: str) -> list[Key]:
    """Return the keys in a tensor, which is a flat list or a column."""
    keys = [cell[0] if isinstance(cell, list) and len(cell) == 1 else cell for cell in tensor.data]
    key_type = str if datatype == "BYTES" else int
    problem = None if keys else "No key was sent."
    if tensor.name != "keys" or tensor.datatype != datatype:
        problem = f"The input is {tensor.name!r} of type {tensor.datatype}."
    elif prod(tensor.shape) != len(keys):
        problem = f"The shape {tensor.shape} does not fit {len(keys)} keys."
    elif not all(isinstance(key, key_type) and not isinstance(key, bool) for key in keys):
        problem = f"Some of the data are not {datatype}."
    if problem:
        advice = f"Send one input `keys` of type {datatype} and shape [n]."
        raise HttpError(400, "wrong_input", problem, advice)
    return keys

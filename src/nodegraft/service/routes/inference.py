"""The Open Inference Protocol, for clients of KServe and Triton.

https://github.com/kserve/open-inference-protocol
"""

from importlib.metadata import version
from math import prod
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from nodegraft.analysis.predictions import found_rows, predict_rows
from nodegraft.base.errors import UnknownNodeError
from nodegraft.graph.keys import Key
from nodegraft.service.auth.limits import MOST_KEYS
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.http_error import HttpError
from nodegraft.service.inputs import READY, Served, needs
from nodegraft.service.live.live import Live
from nodegraft.service.schemas import RefusedInference, refused_as
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
"""Output -> its type. The first two came first: clients may read them by place."""

_SHARED: dict[str, Any] = {
    "prefix": "/v2",
    "tags": ["open inference protocol"],
    "responses": refused_as(RefusedInference),
}
OPEN = APIRouter(**_SHARED)
READING = APIRouter(**_SHARED, dependencies=[needs(Scope.READ)])

ModelName = Annotated[str, Path(description="The model: called as the folder of the store.")]


class Tensor(BaseModel):
    """What the protocol sends: numbers or texts, their shape and type."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    name: str = Field(examples=["keys"])
    """What it is."""

    shape: list[Annotated[int, Field(ge=0)]] = Field(max_length=2, examples=[[2]])
    """How many there are: [n], or [n, 1]."""

    datatype: Literal["BYTES", "INT64", "FP64"] = Field(examples=["BYTES"])
    """BYTES for text."""

    data: list[Any] = Field(max_length=MOST_KEYS, examples=[["p7", "p9"]])
    """All of them, flat or in lists of one."""


class InferenceParameters(BaseModel):
    """Parameters of a request; others, which clients of the protocol may send, are ignored."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    missing: Literal["error", "null"] = Field(default="null", examples=["null"])
    """What happens to keys that the graph does not have: `null` answers them with an empty class,
    zeros and the reason `unknown_key`; `error` refuses the whole request."""

    ignore_labels: bool = Field(default=False, examples=[False])
    """Whether `class` is the prediction also for nodes with a label."""


class InferenceRequest(BaseModel):
    """Nodes whose class is asked for."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    parameters: InferenceParameters | None = None
    """How they are answered; null for the defaults."""

    id: str | None = Field(default=None, max_length=1_000, examples=["42"])
    """Comes back with the answer."""

    inputs: list[Tensor] = Field(min_length=1, max_length=1)
    """One, called ``keys``: BYTES where keys are text, INT64 where they are integers."""


class InferenceResponse(BaseModel):
    """The class of each node, and how sure it is."""

    model_config = ConfigDict(use_attribute_docstrings=True, protected_namespaces=())

    model_name: str = Field(examples=["shop"])
    """The model that answered."""

    model_version: str = Field(examples=["3"])
    """The version that answered."""

    id: str | None = Field(default=None, examples=["42"])
    """What the request said."""

    parameters: dict[str, str] = Field(examples=[{"graph_version": "9f86d081884c7d65"}])
    """The version of the graph, and the world: whether nodes may belong to unknown classes."""

    outputs: list[Tensor]
    """``class``, ``label``, ``prediction`` and ``reason`` (BYTES), ``confidence``, ``probability``
    and ``known`` (FP64). Tensors hold no null: it is an empty text, or 0, also of ``known`` without
    an estimate."""


@READING.get("")
async def server() -> dict[str, Any]:
    """What this server is."""
    return {"name": "nodegraft", "version": version("nodegraft"), "extensions": []}


@OPEN.get("/health/live")
async def alive() -> dict[str, bool]:
    """Whether the process is alive."""
    return {"live": True}


@OPEN.get("/health/ready", dependencies=[READY])
async def ready() -> dict[str, bool]:
    """Whether questions can be answered."""
    return {"ready": True}


@READING.get("/models/{name}")
async def model(name: ModelName, service: Served) -> dict[str, Any]:
    """What a model takes and gives."""
    _require_named(service, name)
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
        "parameters": {
            "graph_version": live.graph_version,
            "world": live.state.model.world,
        },
    }


@READING.get("/models/{name}/ready")
async def model_ready(name: ModelName, service: Served) -> dict[str, Any]:
    """Whether a model can answer."""
    _require_named(service, name)
    return {"name": name, "ready": True}


@READING.post("/models/{name}/infer")
def infer(name: ModelName, request: InferenceRequest, service: Served) -> InferenceResponse:
    """The class of each node."""
    _require_named(service, name)
    live = service.now
    wanted = _keys(request.inputs[0], _datatype(live))
    parameters = request.parameters or InferenceParameters()
    try:
        rows, keys = found_rows(live.state.graph, wanted, parameters.missing)
    except UnknownNodeError as error:
        advice = 'Leave these keys out, or send "parameters": {"missing": "null"}.'
        raise HttpError(404, "unknown_node", str(error), advice) from error
    found = predict_rows(
        live.state, rows, live.version, keys=keys, ignore_labels=parameters.ignore_labels
    ).to_rows()
    return InferenceResponse(
        model_name=name,
        model_version=str(live.version),
        id=request.id,
        parameters={"graph_version": live.graph_version, "world": live.state.model.world},
        outputs=[
            Tensor(
                name=name,
                shape=[len(found)],
                datatype=datatype,
                data=[row[name] or ("" if datatype == "BYTES" else 0.0) for row in found],
            )
            for name, datatype in OUTPUTS.items()
        ],
    )


def _require_named(service: Service, name: str) -> None:
    if name != service.name:
        raise HttpError(
            404, "unknown_model", f"There is no model {name!r}.", f"Ask {service.name!r}."
        )


def _datatype(live: Live) -> Literal["BYTES", "INT64"]:
    return "BYTES" if live.state.graph.has_text_keys else "INT64"


def _keys(tensor: Tensor, datatype: str) -> list[Key]:
    """The keys in a tensor, which is flat or a column."""
    keys = [one[0] if isinstance(one, list) and len(one) == 1 else one for one in tensor.data]
    fits = str if datatype == "BYTES" else int
    told = None
    if tensor.name != "keys" or tensor.datatype != datatype:
        told = f"The input is {tensor.name!r} of type {tensor.datatype}."
    elif prod(tensor.shape) != len(keys):
        told = f"The shape {tensor.shape} is not that of {len(keys)} keys."
    elif not all(isinstance(key, fits) and not isinstance(key, bool) for key in keys):
        told = f"Not all of the data is {datatype}."
    if told or not keys:
        advice = f"Send one input `keys` of type {datatype} and shape [n]."
        raise HttpError(400, "wrong_input", told or "No key was sent.", advice)
    return keys

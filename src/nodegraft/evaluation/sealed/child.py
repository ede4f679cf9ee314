"""Sealed process: it isolates itself, then runs a method on data from the judge.

It is started by :class:`nodegraft.evaluation.sealed.method.SealedMethod` as ``python -m
nodegraft.evaluation.sealed.child``. The judge is the process that evaluates the method. It sends
the settings of the isolation over standard input and everything else over a socket.
"""

import json
import socket
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from nodegraft.evaluation.sealed.isolation import end_with_parent, isolate

if TYPE_CHECKING:
    from nodegraft.evaluation.sealed.channel import Channel, Message
    from nodegraft.model.method import Method


def main() -> None:
    """Isolate this process and serve the judge until it closes the socket."""
    if sys.platform == "linux":
        end_with_parent()
    settings = json.load(sys.stdin)
    isolation = isolate(settings["readable"], settings["scratch"], settings["forbidden"])

    # Import these modules after the isolation: numpy and torch start threads, and the isolation
    # does not cover threads that exist already.
    from nodegraft.base.errors import NodegraftError
    from nodegraft.evaluation.sealed.channel import Channel, Message

    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    channel.send(Message("isolation", asdict(isolation)))
    try:
        _serve(channel)
    except EOFError:
        return
    except Exception as error:
        expected = isinstance(error, NodegraftError)
        text = str(error) if expected else f"{type(error).__name__}: {error}"
        channel.send(Message("error", {"error": text}))
        if not expected:
            raise


def _serve(channel: "Channel") -> None:
    import torch

    from nodegraft.base.measure import Measurement
    from nodegraft.evaluation.sealed.channel import Message
    from nodegraft.evaluation.sealed.contents import Contents
    from nodegraft.model.registry import MethodDescription

    start = channel.receive()
    torch.set_num_threads(start.fields["threads"])
    method = _make(start)
    channel.send(Message("description", asdict(MethodDescription.of(method))))
    while True:
        message = channel.receive()
        contents = Contents(dict(message.arrays), dict(message.fields))
        view = contents.view()
        with Measurement() as work:
            if message.kind == "fit":
                method.fit(view, contents.curriculum())
            else:
                method.add_classes(view, contents.labels("support"))
        cost = {"peak_bytes": work.peak_bytes, "kept_bytes": method.kept_bytes()}
        channel.send(Message("learned", cost))
        channel.receive()
        scores = method.score_rows(view, view.rows)
        predictions = {
            "probabilities": method.probabilities(view, scores).astype("float64"),
            "confidence": method.confidence(view, scores).astype("float64"),
        }
        channel.send(Message("predictions", {}, predictions))


def _make(start: "Message") -> "Method":
    from nodegraft.base.parameters.build import build, read
    from nodegraft.model.registry import REGISTRY

    name: str = start.fields["method"]
    parameters: dict[str, Any] = start.fields["parameters"]
    cls = _class_at(name) if ":" in name else REGISTRY.get(name)
    texts = {key: value for key, value in parameters.items() if isinstance(value, str)}
    return build(cls, {"seed": start.fields["seed"], **parameters, **read(cls, texts)})


def _class_at(place: str) -> "type[Method]":
    from importlib import import_module

    module, _, name = place.partition(":")
    method: type[Method] = getattr(import_module(module), name)
    return method


if __name__ == "__main__":
    main()

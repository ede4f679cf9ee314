"""Embeddings of every node of a graph on disk by a trained model, computed in blocks."""

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.disk.blocks.encode import Encoded, encode
from nodegraft.graph.disk.blocks.layer_work import BlockExecutor
from nodegraft.graph.view import GraphView
from nodegraft.methods.templates.pretrained import Pretrained
from nodegraft.model.method import Method


def encode_for(
    model: Method,
    graph: GraphView,
    executor: BlockExecutor | None = None,
    *,
    listener: Listener = SILENT,
) -> Encoded:
    """Embed all nodes by a model's graph convolutions, layer by layer, and keep that on disk.

    From then on the model answers about this graph by looking its nodes up, in memory for what is
    asked; else every answer is worked out from the neighbourhoods of the nodes in question, which
    together may be the whole graph. When the encoder's weights change, as ``hag-meta`` changes them
    where it learns classes, this is to be done again.

    Args:
        model: A model with a trained encoder.
        graph: A graph on disk; it need not be the one that the model was trained on.
        executor: Who computes the blocks; None for this process.
        listener: Receives progress.
    """
    model = model._now()
    model._check(graph)
    if not isinstance(model, Pretrained):
        raise ParameterError(
            f"{model.name} has no trained encoder. Precompute the features it reads with "
            "`nodegraft propagate`, without a model."
        )
    network = model.answering_encoder().row_network()
    if network is None:
        raise ParameterError(
            f"The layers of {model.name} weigh each pair of neighbours, so they cannot be computed "
            "in blocks: it predicts nodes of a graph on disk from their neighbourhoods, as long "
            "as these fit into memory. Use graph convolutions: proto-gcn."
        )
    return encode(graph, network, executor, listener=listener)

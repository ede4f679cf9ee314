"""One HAG-Meta episode against the bare forward and backward of the same layers, in one run.

    python performance/episode.py --data DIR --dataset amazon-clothing

The bare side has its neighbourhoods ready and runs encoder and node attention on them, forward and
backward: once on the kernels this package uses, once by PyG's GCNConv on the same nodes with their
features made dense beforehand. The episode also draws, cuts out neighbourhoods, forms prototypes,
weighs and steps.
"""

import argparse
import statistics
import time

import numpy as np
import torch
from scipy.sparse import csr_array
from torch_geometric.nn import GCNConv

import nodegraft as ng
from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.learners.hag import HAGNetwork, HAGOptions
from nodegraft.methods.neural.losses import adam
from nodegraft.streams.episodes.gpil import GPIL


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--dataset", default="amazon-clothing")
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    torch.set_num_threads(1)

    data = ng.load_dataset(options.dataset, options.data)
    stream = data.stream(seed=0, arrival="with-class")
    split, view = stream.split, stream.session(0).view
    ways, shots = data.setting.ways, data.setting.shots
    encoder = GCN([view.num_features, 32, 16], Seeds(0).torch_generator("encoder"))
    network = HAGNetwork(
        encoder,
        HAGOptions(),
        num_base_classes=len(split.base),
        ways=ways,
        generator=Seeds(0).torch_generator("attention"),
    )
    sampler = GPIL(
        train=split.train, pseudo_novel=split.pseudo_novel, ways=ways, shots=shots, queries=shots
    )
    episodes = sampler.episodes(Seeds(0).generator("gpil"))
    optimiser = adam(network.parameters(), 0.005, 0.0005)
    pyg = [GCNConv(*sizes) for sizes in 2 * [(view.num_features, 32), (32, 16)]]
    ours, bare, theirs = [], [], []
    for _ in range(options.rounds + 5):
        start = time.perf_counter()
        episode = next(episodes)
        optimiser.zero_grad()
        network.loss(view, episode).loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        ours.append(time.perf_counter() - start)

        parts = (*episode.tasks, episode.query)
        rows = np.unique(np.concatenate([part.rows() for part in parts]))
        few = np.unique(np.concatenate([task.rows() for task in episode.tasks[1:]]))
        everyone, supports = view.neighbourhood(rows, 2), view.neighbourhood(few, 2)
        for part in (everyone, supports):
            # Transposes are part of what is ready.
            for operator in (part.features, *part.hops):
                _ = operator.forward_matrix, operator.backward_matrix
        start = time.perf_counter()
        total = encoder(everyone).sum() + network.node_attention(supports).sum()
        total.backward()
        bare.append(time.perf_counter() - start)

        ready = [as_pyg(view, nodes) for nodes in (rows, few)]
        start = time.perf_counter()
        total = convolved(pyg[:2], *ready[0]).sum() + convolved(pyg[2:], *ready[1]).sum()
        total.backward()  # type: ignore[no-untyped-call]
        theirs.append(time.perf_counter() - start)
    kept = slice(5, None)
    print(f"{options.dataset}: {statistics.median(ours[kept]) * 1000:.1f} ms an episode")
    for name, times in {"bare layers": bare, "bare layers by PyG": theirs}.items():
        ratios = [a / b for a, b in zip(ours[kept], times[kept], strict=True)]
        print(f"{name}: {statistics.median(times[kept]) * 1000:.1f} ms; ratio: median "
              f"{statistics.median(ratios):.2f} of {len(ratios)} rounds")  # fmt: skip


def as_pyg(view: GraphView, rows: IntArray) -> tuple[torch.Tensor, torch.Tensor]:
    """Dense features and edges among all nodes within two hops of rows."""
    near = rows
    for _ in range(2):
        near = np.union1d(near, view.neighbours(near)[1])
    counts, ends = view.neighbours(near)
    owner = np.repeat(np.arange(near.size), counts)
    inside = np.isin(ends, near)
    edges = np.stack((owner[inside], np.searchsorted(near, ends[inside])))
    return torch.from_numpy(np.asarray(csr_array(view.features(near)).todense())), torch.from_numpy(
        edges
    )


def convolved(layers: list[GCNConv], features: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    """Two layers with ReLU between them."""
    hidden: torch.Tensor = layers[1](layers[0](features, edges).relu(), edges)
    return hidden


if __name__ == "__main__":
    main()

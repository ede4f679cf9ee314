"""Time of a HAG-Meta episode against the forward and backward pass of its layers alone.

    python -m performance.episode --data DIR --dataset amazon-clothing

The layers alone are encoder and node attention on neighbourhoods that are ready: once with the
kernels of this package, once with GCNConv of PyG on the same nodes with dense features. The episode
also samples nodes, extracts neighbourhoods, computes prototypes and task weights, and makes an
optimiser step. All three alternate, so that other load on the machine slows down all.
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
    """Print the time of an episode and its ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", required=True, help="folder with the data folders")
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
    episode_times, bare_times, pyg_times = [], [], []
    for _ in range(options.rounds + 5):
        start = time.perf_counter()
        episode = next(episodes)
        optimiser.zero_grad()
        network.loss(view, episode).loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        episode_times.append(time.perf_counter() - start)

        parts = (*episode.tasks, episode.query)
        rows = np.unique(np.concatenate([part.rows() for part in parts]))
        support_rows = np.unique(np.concatenate([task.rows() for task in episode.tasks[1:]]))
        everything, supports = view.neighbourhood(rows, 2), view.neighbourhood(support_rows, 2)
        for part in (everything, supports):
            # Compute cached matrices and their transposes before the clock starts.
            for operator in (part.features, *part.hops):
                _ = operator.forward_matrix, operator.backward_matrix
        start = time.perf_counter()
        total = encoder(everything).sum() + network.node_attention(supports).sum()
        total.backward()
        bare_times.append(time.perf_counter() - start)

        ready = [as_pyg(view, nodes) for nodes in (rows, support_rows)]
        start = time.perf_counter()
        total = two_layers(pyg[:2], *ready[0]).sum() + two_layers(pyg[2:], *ready[1]).sum()
        total.backward()  # type: ignore[no-untyped-call]
        pyg_times.append(time.perf_counter() - start)
    after_warm_up = slice(5, None)
    episode_times = episode_times[after_warm_up]
    print(f"{options.dataset}: {statistics.median(episode_times) * 1000:.1f} ms per episode")
    for name, times in {"layers alone": bare_times, "layers alone, PyG": pyg_times}.items():
        times = times[after_warm_up]
        ratios = [a / b for a, b in zip(episode_times, times, strict=True)]
        print(f"{name}: {statistics.median(times) * 1000:.1f} ms; ratio: median "
              f"{statistics.median(ratios):.2f} of {len(ratios)} rounds")  # fmt: skip


def as_pyg(view: GraphView, rows: IntArray) -> tuple[torch.Tensor, torch.Tensor]:
    """Return dense features and edges of the nodes within two hops of ``rows``."""
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


def two_layers(layers: list[GCNConv], features: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    """Apply two layers with ReLU between them."""
    hidden: torch.Tensor = layers[1](layers[0](features, edges).relu(), edges)
    return hidden


if __name__ == "__main__":
    main()

"""Time of a pre-training step against the same products with the bare CSR kernel.

    python -m performance.pretrain_step            # 233k nodes, 23M directed edges, 602 features
    python -m performance.pretrain_step --nodes 20000 --edges 1000000

Both use the same matrices and alternate, so that other load on the machine slows down both. The
bare kernel only multiplies: no autograd, no activation, no loss, no optimiser.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor

from nodegraft.base.measure import peak_resident_bytes
from nodegraft.base.seeds import Seeds
from nodegraft.lab.datasets.synthetic import Synthetic
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.pretraining import FullBatchTrainer, Pretraining
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit

SIZES = (32, 16)


def bare_step(adjacency: Tensor, features: Tensor, first: Tensor, second: Tensor) -> None:
    """Multiply as in a forward and backward pass of a two-layer GCN."""
    hidden = adjacency @ (features @ first)
    out = adjacency @ (hidden @ second)
    back = adjacency @ out
    _ = hidden.T @ back
    back = adjacency @ (back @ second.T)
    _ = features.T @ back


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Print the times of both and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=233_000)
    parser.add_argument("--edges", type=int, default=23_000_000, help="counted in both directions")
    parser.add_argument("--features", type=int, default=602)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    dataset = Synthetic(
        nodes=options.nodes,
        classes=41,
        degree=options.edges / options.nodes,
        features=options.features,
    ).load()
    view, seeds, plan = dataset.graph, Seeds(0), Pretraining()
    encoder = GCN([view.num_features, *SIZES], seeds.torch_generator("encoder"))
    # The setting of Reddit: 11 base classes of 41, with 60 % of their nodes for training.
    setting = Setting(base=11, pseudo_novel=8, validation=2, novel=20, ways=2, shots=3)
    split = ClassSplit.draw(dataset.labels, setting, seed=0)
    trainer = FullBatchTrainer(plan, encoder, view, split.train.select(split.base), seeds)
    adjacency = trainer.neighbourhood.hops[0].forward_matrix
    features = trainer.neighbourhood.features.forward_matrix
    first, second = (weight.detach().clone() for weight in encoder.weights)

    def bare() -> None:
        bare_step(adjacency, features, first, second)

    built = peak_resident_bytes()
    times: dict[str, list[float]] = {"bare kernel": [], "nodegraft step": []}
    for _ in range(options.rounds + 1):
        times["bare kernel"].append(seconds(bare))
        times["nodegraft step"].append(seconds(trainer.step))
    print(f"{view.num_nodes:,} nodes, {2 * view.num_edges:,} directed edges, "
          f"{view.num_features} features -> {SIZES}, {options.threads} thread(s)")  # fmt: skip
    for name, all_times in times.items():
        # Without the first round, in which caches and allocators are still cold.
        warm = all_times[1:]
        print(f"{name:15} median {statistics.median(warm):.3f} s, fastest {min(warm):.3f} s")
    ratios = [b / a for a, b in zip(*(times[name][1:] for name in times), strict=True)]
    print(f"ratio           median {statistics.median(ratios):.3f} of {options.rounds} rounds")
    print(f"peak memory     {peak_resident_bytes() / 1e9:.2f} GB ({built / 1e9:.2f} GB to build)")


if __name__ == "__main__":
    main()

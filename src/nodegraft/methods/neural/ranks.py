"""Data-parallel training: the processes of ``torch.distributed`` (ranks) share every batch.

Each rank embeds its part of the rows of a batch, and then every rank receives all embeddings. What
follows (prototypes, attention over tasks, loss, early stopping) is computed by each rank from the
same numbers. So a training step is that of one process, up to rounding and dropout, for any number
of ranks and any loss.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeGuard

import torch
import torch.distributed as dist
from torch import Tensor, nn

from nodegraft.base.errors import ParameterError, TrainingInterruptedError
from nodegraft.graph.sampled_view import SampledView
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.device import Device, training_device

TIMEOUT = timedelta(minutes=10)
"""Maximum time to wait for the other ranks, in a process group that nodegraft starts."""

_OWNER = "NODEGRAFT_RANK_PROCESS"
"""Environment variable with the process id of the rank, for the processes that it starts."""

_LAUNCHER = os.getppid()
"""Process id of ``torchrun``, if it has started this process."""


def join_ranks(device: Device) -> tuple[int, int]:
    """Return the number of this process (its rank), and the number of all processes.

    It is ``(0, 1)``, unless the caller has initialised ``torch.distributed``, or ``torchrun`` has
    started this process; then the process group is initialised.

    Args:
        device: Device of training. Tensors on CUDA are sent by NCCL, tensors on the CPU by Gloo.
    """
    # A process that a rank has started inherits its environment, but is no rank.
    is_child = os.environ.get(_OWNER, str(os.getpid())) != str(os.getpid())
    if is_child or not dist.is_available():
        return 0, 1
    if not dist.is_initialized():
        if not dist.is_torchelastic_launched() or os.environ.get("WORLD_SIZE", "1") == "1":
            return 0, 1
        backend = "gloo"
        if training_device(device).type == "cuda":
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
            # Stored nodes are embedded on the CPU after training.
            backend = "cpu:gloo,cuda:nccl"
        with _readable_errors():
            dist.init_process_group(backend, timeout=TIMEOUT)
    os.environ[_OWNER] = str(os.getpid())
    return dist.get_rank(), dist.get_world_size()


def is_shared(view: GraphView) -> TypeGuard[SampledView]:
    """Return whether several ranks share the batches of a view."""
    return isinstance(view, SampledView) and view.world_size > 1


def is_first_rank(view: GraphView) -> bool:
    """Return whether this process trains alone, or is the first of those that train together."""
    return not is_shared(view) or view.rank == 0


def gather_rows(own: Tensor, view: GraphView, total: int) -> Tensor:
    """Return the rows of all ranks, of which each rank has computed its part.

    The result is differentiable; :func:`average_gradients` completes the gradients.

    Args:
        own: Rows of this rank, those of ``view.part(total)``.
        view: View that was embedded; nothing happens if no other rank shares its batches.
        total: Number of rows of all ranks.
    """
    if not is_shared(view):
        return own
    arguments = own, view.part(total), total, view.world_size
    gathered: Tensor = _GatherRows.apply(*arguments)  # type: ignore[no-untyped-call]
    return gathered


class _GatherRows(torch.autograd.Function):
    """Sum of the parts of all ranks, each padded by zeros to the whole."""

    @staticmethod
    def forward(ctx: Any, own: Tensor, part: slice, total: int, world_size: int) -> Tensor:
        ctx.part, ctx.world_size = part, world_size
        whole = own.new_zeros(total, *own.shape[1:])
        whole[part] = own
        _sum(whole)
        return whole

    @staticmethod
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor, None, None, None]:
        # All ranks compute the same loss, and gradients are averaged: what only this rank has
        # computed must count as often as what all ranks compute.
        return slopes[ctx.part] * ctx.world_size, None, None, None


def average_gradients(weights: Iterable[nn.Parameter], view: GraphView) -> None:
    """Replace gradients by their mean over the ranks, before a step of the optimiser.

    Args:
        weights: Trained weights; those without a gradient are skipped.
        view: View of the step; nothing happens if no other rank shares its batches.
    """
    if is_shared(view):
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients]) / view.world_size
        _sum(flat)
        parts = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))


def from_first_rank(values: Iterable[Any], view: GraphView) -> list[Any]:
    """Return the values of the first rank.

    With its accuracies all ranks decide alike, even if their processors round differently.

    Args:
        values: Values of this rank, which are returned if no other rank shares the view.
        view: View of the training.
    """
    received = list(values)
    if is_shared(view):
        with _readable_errors():
            dist.broadcast_object_list(received, src=0)
    return received


def gather_objects(value: Any, view: GraphView) -> list[Any]:
    """Return the value of each rank, in the order of ranks.

    Args:
        value: Value of this rank.
        view: View of the training.
    """
    gathered = [value]
    if is_shared(view):
        gathered *= view.world_size
        with _readable_errors():
            dist.all_gather_object(gathered, value)
    return gathered


def _sum(values: Tensor) -> None:
    with _readable_errors():
        dist.all_reduce(values)


@contextmanager
def _readable_errors() -> Iterator[None]:
    """Raise TrainingInterruptedError if another rank, or the launcher, has ended."""
    _require_launcher()
    try:
        yield
    except RuntimeError as error:
        _require_launcher()
        raise TrainingInterruptedError(
            "another training process has ended or has not responded in time"
        ) from error


def _require_launcher() -> None:
    if dist.is_torchelastic_launched() and os.getppid() != _LAUNCHER:
        raise TrainingInterruptedError("torchrun, which started this process, has ended")


def require_same_inputs(inputs: Mapping[str, str], view: GraphView) -> None:
    """Raise ParameterError if the ranks were given different inputs.

    Args:
        inputs: Name of an input, such as "labels" -> its hash.
        view: View of the training.
    """
    of_all = gather_objects(dict(inputs), view)
    different = [name for name in inputs if len({other[name] for other in of_all}) > 1]
    if different:
        raise ParameterError(
            f"The {len(of_all)} training processes were given different "
            f"{' and '.join(different)}: call each method with the same arguments and parameters "
            "in all of them. To train a model in each process alone under torchrun, set the "
            "environment variable WORLD_SIZE to 1 first."
        )

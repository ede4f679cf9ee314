"""Checkpoints of training: one file, replaced atomically, from which an interrupted fit resumes."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.array_file import flush_to_disk
from nodegraft.base.hashing import content_hash
from nodegraft.graph.sampled_view import SampledView
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.device import CPU
from nodegraft.methods.neural.ranks import (
    from_first_rank,
    gather_objects,
    is_first_rank,
    is_shared,
)

EVERY = 50
"""Number of gradient steps between two checkpoints."""

_DOCUMENT = "document"


@dataclass
class Snapshot:
    """State of a stage of training, such as pre-training.

    Args:
        tensors: Tensors by name, such as ``weights.head``.
        numbers: Counters and the best values so far, as JSON.
    """

    tensors: dict[str, Tensor]
    numbers: dict[str, Any]

    def part(self, name: str) -> dict[str, Tensor]:
        """Return the tensors whose names begin with ``name.``, without this prefix."""
        start = f"{name}."
        return {
            key.removeprefix(start): value
            for key, value in self.tensors.items()
            if key.startswith(start)
        }


def named(name: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors with ``name.`` before their names, see :meth:`Snapshot.part`."""
    return {f"{name}.{key}": value for key, value in tensors.items()}


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the state of an optimiser as tensors by name."""
    states = optimiser.state_dict()["state"]
    return {
        f"{key}.{name}": value for key, parts in states.items() for name, value in parts.items()
    }


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Set the state of an optimiser to the result of :func:`optimiser_tensors`."""
    states: dict[int, dict[str, Tensor]] = {}
    for place, value in tensors.items():
        key, name = place.split(".")
        states.setdefault(int(key), {})[name] = value
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": states, "param_groups": groups})


class TrainingCheckpoint:
    """File with the state of a training, written by the first rank.

    Args:
        path: The file; None writes nothing.
        inputs: Name of an input of the training -> its hash; a file of other inputs is refused.
        view: View to train on, whose batches several ranks may share.
    """

    def __init__(self, path: Path | None, inputs: Mapping[str, str], view: GraphView) -> None:
        self._path, self._view, self._steps = path, view, 0
        world_size = view.world_size if is_shared(view) else 1
        self._inputs = {
            **inputs,
            "number of processes": str(world_size),
            # batch="auto" depends on the free memory.
            "choice of full or sampled batches": str(isinstance(view, SampledView)),
            "version of nodegraft": version("nodegraft"),
        }
        self._tensors: dict[str, Tensor] = {}
        self._stages: dict[str, Any] = {}
        if path is not None:
            self._read(path)
            self._require_writable(path)

    def _read(self, path: Path) -> None:
        try:
            content = path.read_bytes() if path.exists() else None
        except OSError as error:
            raise CheckpointError(f"The checkpoint {path} cannot be read: {error}.") from error
        # The other ranks may be on machines that do not have the file.
        (content,) = from_first_rank([content], self._view)
        if content is None:
            return
        try:
            tensors = load(content)
            document = json.loads(tensors.pop(_DOCUMENT).numpy().tobytes())
            inputs, stages = document["inputs"], document["stages"]
            if document["hash"] != _hash(tensors, inputs, stages):
                raise ValueError("its content does not have its hash")
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"{path} is no checkpoint of a training, or is damaged ({error}): delete it to "
                "start from the beginning, or give another file."
            ) from error
        different = [name for name, own in self._inputs.items() if inputs.get(name) != own]
        if different:
            raise CheckpointError(
                f"{path} is the checkpoint of another training, which differs in its "
                f"{' and '.join(different)}: delete it to start from the beginning, or give "
                "another file."
            )
        self._tensors, self._stages = tensors, stages

    def _require_writable(self, path: Path) -> None:
        """Raise an error now, because training may take hours before the first checkpoint."""
        reason = ""
        if is_first_rank(self._view) and not path.parent.is_dir():
            reason = f"there is no folder {path.parent}"
        elif is_first_rank(self._view) and not os.access(path.parent, os.W_OK):
            reason = f"you may not write in the folder {path.parent}"
        (reason,) = from_first_rank([reason], self._view)
        if reason:
            raise CheckpointError(f"The checkpoint {path} cannot be written: {reason}.")

    def resume(self, stage: str, generator: np.random.Generator | None = None) -> Snapshot | None:
        """Return the last snapshot of a stage; None if there is none.

        Args:
            stage: Name of the stage.
            generator: Random generator of this rank, which is set to its state at the snapshot.
        """
        if stage not in self._stages:
            return None
        saved = self._stages[stage]
        state = saved["generators"][self._view.rank if is_shared(self._view) else 0]
        if generator is not None and state is not None:
            generator.bit_generator.state = state
        return Snapshot(Snapshot(self._tensors, {}).part(stage), saved["numbers"])

    def after_step(
        self,
        stage: str,
        snapshot: Callable[[], Snapshot],
        generator: np.random.Generator | None = None,
    ) -> None:
        """Write a checkpoint if :data:`EVERY` gradient steps were taken since the last one.

        Args:
            stage: Name of the stage.
            snapshot: Function that returns the state of the stage.
            generator: Random generator of this rank.
        """
        self._steps += 1
        if self._path is not None and self._steps % EVERY == 0:
            self.write(stage, snapshot(), generator)

    def write(
        self, stage: str, snapshot: Snapshot, generator: np.random.Generator | None = None
    ) -> None:
        """Write a checkpoint, in which a snapshot replaces the earlier one of its stage.

        Args:
            stage: Name of the stage.
            snapshot: State of the stage.
            generator: Random generator of this rank.
        """
        if self._path is None:
            return
        state = None if generator is None else generator.bit_generator.state
        generators = gather_objects(state, self._view)
        others = {
            name: value for name, value in self._tensors.items() if not name.startswith(f"{stage}.")
        }
        self._tensors = others | named(stage, snapshot.tensors)
        self._stages[stage] = {"numbers": snapshot.numbers, "generators": generators}
        if is_first_rank(self._view):
            self._replace(self._path)

    def _replace(self, path: Path) -> None:
        tensors = {name: value.to(CPU).contiguous() for name, value in self._tensors.items()}
        parts = {"inputs": self._inputs, "stages": self._stages}
        document = json.dumps({**parts, "hash": _hash(tensors, **parts)}).encode()
        tensors[_DOCUMENT] = torch.frombuffer(bytearray(document), dtype=torch.uint8)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            draft.write_bytes(save(tensors))
            flush_to_disk(draft)
            draft.replace(path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise CheckpointError(f"The checkpoint {path} cannot be written: {error}.") from error


def _hash(tensors: Mapping[str, Tensor], inputs: Any, stages: Any) -> str:
    parts = [part for name in sorted(tensors) for part in (name, tensors[name].numpy())]
    return content_hash(*parts, [inputs, stages])

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given

from nodegraft.checkpoint import pack, read_model, unpack, write_model
from tests.property.strategies import states, thorough
from tests.test_checkpoint import check_same


@thorough
@given(states)
def test_state_comes_back_from_memory_and_from_disk(state: dict[str, Any]) -> None:
    check_same(unpack(pack(state)), state)
    with TemporaryDirectory() as folder:
        write_model(Path(folder) / "model", {}, pack(state), "")
        back = unpack(read_model(Path(folder) / "model")[1])
    check_same(back, state)

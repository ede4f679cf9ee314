from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given

from nodegraft.model.checkpoint import pack, read_model, unpack, write_model
from tests.model.test_checkpoint import HEADER, check_same, kinds_of
from tests.property.strategies import states, thorough


@thorough
@given(states)
def test_state_comes_back_from_memory_and_from_disk(state: dict[str, Any]) -> None:
    kinds = kinds_of(state)
    check_same(unpack(pack(state, kinds), kinds), state)
    with TemporaryDirectory() as folder:
        write_model(Path(folder) / "model", HEADER, pack(state, kinds), "")
        back = unpack(read_model(Path(folder) / "model").state, kinds)
    check_same(back, state)

"""A change that is sent again is not done again."""

from pathlib import Path
from typing import Any

import pytest

from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.store.versions.versions import Versions
from tests.service.served import asked, lesson

New = dict[str, list[Any]]
KEY = {"Idempotency-Key": "lesson 1"}


def test_the_same_change_with_the_same_key_is_answered_as_the_first_time(
    shop: Path, new: New
) -> None:
    sent: dict[str, Any] = {"json": lesson(new), "headers": KEY, "params": {"promote": True}}
    with asked(shop) as client:
        first = client.post("/v1/classes", **sent)
        client.post("/v1/classes", json=lesson(new, 1))
        again = client.post("/v1/classes", **sent)
    # Another process knows, too: the key is in the row of the version.
    with asked(shop) as client:
        later = client.post("/v1/classes", **sent)
    assert first.status_code == again.status_code == later.status_code == 201
    assert first.json() == again.json() == later.json()
    with Store.open(shop) as store:
        assert (store.newest, store.live) == (3, 2)


@pytest.mark.parametrize(
    ("path", "method"),
    [("/v1/versions/2:undo", "POST"), ("/v1/classes/class-00", "DELETE")],
)
def test_so_are_other_changes(path: str, method: str, shop: Path, new: New) -> None:
    with asked(shop) as client:
        client.post("/v1/classes", json=lesson(new))
        answers = [client.request(method, path, headers=KEY).json() for _ in range(2)]
    assert answers[0] == answers[1]
    with Store.open(shop) as store:
        assert store.newest == 3


def test_a_key_is_good_for_one_change(shop: Path, new: New) -> None:
    with asked(shop) as client:
        client.post("/v1/classes", json=lesson(new), headers=KEY)
        for other in (
            client.post("/v1/classes", json=lesson(new, 1), headers=KEY),
            client.post("/v1/classes", json=lesson(new), headers=KEY, params={"promote": True}),
            client.delete("/v1/classes/class-00", headers=KEY),
        ):
            assert (other.status_code, other.json()["error"]["code"]) == (422, "key_used_before")
    with Store.open(shop) as store:
        assert store.newest == 2


def test_a_change_that_was_refused_may_be_sent_again(shop: Path, new: New) -> None:
    with asked(shop) as client:
        for _ in range(2):
            refused = client.post("/v1/classes", json={"classes": {"x": [99_999]}}, headers=KEY)
            assert refused.status_code == 404
        assert client.post("/v1/classes", json=lesson(new), headers=KEY).status_code == 201


def test_a_change_beside_another_process_is_done_after_it(
    shop: Path, new: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    added, others = Versions.add, [lesson(new, 1)["classes"]]

    def late(self: Versions, *given: Any) -> Any:
        if others:
            with Store.open(shop) as other:
                other.add(others.pop(), intent=Intent(author="other"))
        return added(self, *given)

    monkeypatch.setattr(Versions, "add", late)
    with asked(shop) as client:
        assert client.post("/v1/classes", json=lesson(new)).json()["model_version"] == 3
    with Store.open(shop) as store:
        assert [one.by for one in store.history()] == ["tests", "other", "local"]
        assert set(new) <= set(store.state(3).labels)

"""A candidate version that waits for review: it is discarded, undone, or built upon."""

import pytest

from nodegraft.analysis.version import describe_version
from nodegraft.base.errors import CandidateWaitsError, ParameterError, StoreError
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.store.small import Small


def teach_each(store: Store, new: dict[str, list[Key]]) -> None:
    """Add every new class as a version of its own, none of which is promoted."""
    for name, nodes in new.items():
        store.add({name: nodes})


def test_discard_makes_one_version_equal_to_the_live_one(small: Small) -> None:
    store, new = small
    assert store.waiting() is None
    teach_each(store, new)
    waiting = store.waiting()
    assert waiting is not None
    assert waiting.number == 3
    version = store.discard(intent=Intent(author="anna", note="not needed"))
    assert (version.number, version.by, version.note) == (4, "anna", "not needed")
    assert version.detail == {"version": 1, "versions": [2, 3]}
    assert version.names == store.version(1).names
    assert describe_version(version) == "discard versions 2-3"
    assert (store.live, store.waiting()) == (1, None)
    # The next change starts from the live version and may be promoted at once.
    assert store.rename("class-00", "first", intent=Intent(promote=True)).number == store.live


def test_discard_is_undone_like_any_change(small: Small) -> None:
    store, new = small
    teach_each(store, new)
    store.discard()
    assert store.undo().names == store.version(3).names
    waiting = store.waiting()
    assert waiting is not None
    assert waiting.number == 5
    # Only what came after the last version equal to the live one is discarded now.
    assert store.discard().detail == {"version": 1, "versions": [5]}


def test_without_a_candidate_there_is_nothing_to_discard(small: Small) -> None:
    store, new = small
    with pytest.raises(StoreError, match="No candidate version waits for review: version 1 is"):
        store.discard()
    store.add(new)
    with pytest.raises(StoreError, match="the candidate version that waits for review is 2"):
        store.discard(1)
    store.prune()
    assert store.discard(2).detail["versions"] == [2]
    with pytest.raises(StoreError, match="No candidate version waits"):
        store.discard()


def test_a_version_that_was_rolled_back_can_be_discarded(small: Small) -> None:
    store, new = small
    store.add(new, intent=Intent(promote=True))
    store.rollback()
    assert store.discard().detail == {"version": 1, "versions": [2]}
    assert store.waiting() is None


def test_the_fit_of_the_live_version_is_back_after_discarding_a_refit(small: Small) -> None:
    store, _ = small
    before = store.last_fit()
    store.rename("class-00", "first")
    store.refit()
    store.discard()
    assert store.last_fit() == before


def test_changes_continue_on_top_of_a_candidate(small: Small) -> None:
    store, new = small
    teach_each(store, new)
    with pytest.raises(CandidateWaitsError) as refused:
        store.rename("class-00", "first", intent=Intent(promote=True))
    assert (refused.value.candidate, refused.value.live) == (3, 1)
    for advice in ("store.promote()", "store.discard()", "omit promote=True"):
        assert advice in str(refused.value)
    assert store.rename("class-00", "first").number == 4
    assert store.live == 1


def test_undo_that_leads_back_to_the_live_version_may_be_promoted(small: Small) -> None:
    store, new = small
    teach_each(store, new)
    # Version 2 would go live with it, which nobody has reviewed.
    with pytest.raises(CandidateWaitsError):
        store.undo(intent=Intent(promote=True))
    with pytest.raises(CandidateWaitsError):
        store.undo(2, intent=Intent(promote=True))
    store.undo()
    store.undo(2)
    first, *_, last = store.history()
    assert (last.labels, store.waiting()) == (first.labels, None)
    store.rename("class-00", "first")
    assert store.undo(intent=Intent(promote=True)).number == store.live == 7


def test_an_intent_that_an_action_has_no_use_for_is_refused(small: Small) -> None:
    store, new = small
    store.add(new)
    promote, override = Intent(promote=True), Intent(override="a test")
    for attempt in (
        lambda: store.discard(intent=promote),
        lambda: store.undo(intent=override),
        lambda: store.promote(intent=promote),
        lambda: store.prune(intent=override),
        lambda: store.set_setting("max_removed_share", 0.2, intent=override),
    ):
        with pytest.raises(ParameterError, match="omit it from the intent"):
            attempt()
    assert (store.newest, store.live) == (2, 1)

import copy
from threading import Barrier, Thread

from nodegraft.base.memo import LatestMemo, Memo


def test_a_value_is_made_once_however_many_ask_at_once() -> None:
    memo, made, barrier = Memo[int](), list[int](), Barrier(8)
    heard: list[int] = []

    def make() -> int:
        made.append(1)
        return len(made)

    def ask() -> None:
        barrier.wait()
        heard.append(memo.get("it", make))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == [1] * 8
    assert len(made) == 1


def test_copies_start_empty() -> None:
    memo = Memo[int]()
    memo.get("it", lambda: 1)
    for other in (copy.copy(memo), copy.deepcopy(memo)):
        assert other.get("it", lambda: 2) == 2


def test_beyond_its_limit_the_oldest_value_goes() -> None:
    memo = Memo[int](most=2)
    for key in "abc":
        memo.get(key, lambda: 1)
    assert [memo.get(key, lambda: 2) for key in "cba"] == [1, 1, 2]
    assert copy.copy(memo)._most == 2


def test_values_are_followed_without_being_asked_for() -> None:
    memo = Memo[int](most=2)
    memo.put("a", 1)
    memo.put("a", 5)
    later = memo.followed(lambda value: value + 1)
    assert (memo.peek("a"), later.peek("a"), later.peek("b")) == (1, 2, None)
    assert (memo.values(), later._most) == ([1], 2)


def test_the_latest_value_is_known_whatever_it_was_made_from() -> None:
    memo, one = LatestMemo[int](), {1}
    assert memo.latest is None
    memo.get((one,), lambda: 42)
    assert memo.latest == 42

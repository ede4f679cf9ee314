import pytest

from nodegraft.base.errors import ClassNameError
from nodegraft.model.class_tree import ClassTree

WEAR = ClassTree({"boots": "shoes", "clogs": "shoes", "caps": "hats", "shoes": "wear"})


def test_paths_go_up_to_the_top() -> None:
    assert WEAR.path("boots") == ("boots", "shoes", "wear")
    assert WEAR.path("anything else") == ("anything else",)
    assert [WEAR.depth(name) for name in ("wear", "shoes", "boots")] == [0, 1, 2]


@pytest.mark.parametrize(
    ("names", "ancestor"),
    [
        (["boots", "clogs"], "shoes"),
        (["boots"], "shoes"),
        (["boots", "shoes"], "wear"),
        (["boots", "caps"], None),
        (["wear"], None),
    ],
)
def test_common_ancestor_is_above_all_of_them(names: list[str], ancestor: str | None) -> None:
    assert WEAR.common_ancestor(names) == ancestor


def test_depth_first_order_keeps_siblings_in_order() -> None:
    order = ["wear", "shoes", "clogs", "boots", "rugs", "hats", "caps"]
    assert WEAR.in_order(["clogs", "rugs", "caps", "boots"]) == order
    assert ClassTree().in_order(["b", "a"]) == ["b", "a"]


@pytest.mark.parametrize(
    "parents",
    [{"wear": "boots"}, {"wear": "wear"}, {"a": "b", "b": "c", "c": "a"}],
)
def test_cycles_are_refused(parents: dict[str, str | None]) -> None:
    with pytest.raises(ClassNameError, match="its own ancestor"):
        WEAR.moved(parents)


def test_moving_keeps_what_is_below() -> None:
    moved = WEAR.moved({"shoes": "hats", "caps": None})
    assert moved.path("boots") == ("boots", "shoes", "hats")
    assert moved.path("caps") == ("caps",)


def test_children_of_removed_classes_move_up() -> None:
    assert WEAR.without(["shoes"]).path("boots") == ("boots", "wear")
    assert WEAR.without(["shoes", "wear"]).path("boots") == ("boots",)
    assert WEAR.without(["boots"]) == ClassTree({k: v for k, v in WEAR.items() if k != "boots"})


def test_renaming_is_merging_one_class() -> None:
    renamed = WEAR.merged(["shoes"], "footwear")
    assert renamed.path("boots") == ("boots", "footwear", "wear")
    assert renamed.merged(["footwear"], "shoes") == WEAR


def test_a_merged_class_is_below_what_was_above_all_of_them() -> None:
    assert WEAR.merged(["boots", "clogs"], "boots").path("boots") == ("boots", "shoes", "wear")
    assert WEAR.merged(["boots", "caps"], "boots").path("boots") == ("boots",)
    # Into their group, which is above them.
    assert WEAR.merged(["boots", "clogs"], "shoes") == ClassTree({"shoes": "wear", "caps": "hats"})


def test_merging_around_a_class_makes_no_cycle() -> None:
    chain = ClassTree({"c": "b", "b": "a", "a": "top"})
    assert chain.merged(["a", "c"], "c") == ClassTree({"b": "c", "c": "top"})


def test_groups_without_classes_are_dropped() -> None:
    assert WEAR.within(["boots", "rugs"]) == ClassTree({"boots": "shoes", "shoes": "wear"})
    assert WEAR.groups(["boots", "clogs", "caps"]) == ["hats", "shoes", "wear"]


def test_the_order_of_parents_does_not_matter() -> None:
    other = ClassTree(dict(reversed(list(WEAR.items()))))
    assert other == WEAR
    assert hash(other) == hash(WEAR)

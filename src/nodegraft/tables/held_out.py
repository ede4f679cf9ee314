"""Labels that teach, and labels that check."""

from nodegraft.base.errors import ClassNameError
from nodegraft.base.parameters.constraints import NonNegativeInt, OpenFraction
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.keys import Key, hash_order, key_array, several
from nodegraft.tables.labels import Labels, keys_by_class

ByClass = dict[str, list[Key]]


def hold_out(labels: Labels, share: float = 0.2, seed: int = 0) -> tuple[ByClass, ByClass]:
    """Labels that teach, and others that check, which are the same share of each class.

    Drawn by the hash of the keys: the order of a table makes no difference, and when it has grown
    nearly all nodes are on the side where they were. One label of each class teaches at least.

    >>> taught, checking = hold_out({"hats": range(10), "caps": [20, 21]})
    >>> {name: len(keys) for name, keys in taught.items()}, checking
    ({'hats': 8, 'caps': 2}, {'hats': [3, 5]})

    Args:
        labels: Class name -> keys of its nodes; or a table or Series, as a store takes them.
        share: How much of each class checks, between 0 and 1; what is less than one node is none.
        seed: Draws which ones.
    """
    validate_value("share", share, OpenFraction)
    validate_value("seed", seed, NonNegativeInt)
    taught, checking = ByClass(), ByClass()
    for name, given in keys_by_class(labels).items():
        keys = key_array(several(given, f"nodes of class {name!r}"))
        if not keys.size:
            raise ClassNameError(f"Class {name!r} has no nodes.")
        ordered: list[Key] = keys[hash_order(keys, seed)].tolist()
        cut = min(int(share * keys.size), keys.size - 1)
        taught[name] = ordered[cut:]
        if cut:
            checking[name] = ordered[:cut]
    return taught, checking

"""Checks of label changes, whose errors name the classes and nodes."""

from collections import Counter
from collections.abc import Iterable, Mapping

from nodegraft.analysis.labels.class_labels import ClassLabels, Keys, in_order
from nodegraft.base.counting import listed
from nodegraft.base.errors import ClassNameError, StoreError, UnknownNodeError
from nodegraft.base.problems import Problems
from nodegraft.graph.keys import Key, several


def refuse_labelled(owners: Mapping[Key, str], new: Mapping[str, Keys], problems: Problems) -> None:
    """Collect an error for each class with nodes that have a label or are listed for two classes.

    Args:
        owners: Labelled node -> its class.
        new: Class -> keys of nodes that are to get its label.
        problems: Collector of the errors.
    """
    new_owners = dict[Key, str]()
    labelled: dict[str, list[Key]] = {}
    for name, keys in new.items():
        for key in keys:
            if key in owners:
                labelled.setdefault(owners[key], []).append(key)
            elif key in new_owners:
                with problems.collect():
                    raise StoreError(
                        f"Node {key!r} is listed for {new_owners[key]!r} and for {name!r}: a "
                        "node has one class."
                    )
            new_owners[key] = name
    for owner, nodes in labelled.items():
        with problems.collect():
            have, them = ("has", "it") if len(nodes) == 1 else ("have", "them")
            other = "" if set(nodes) <= set(new.get(owner, ())) else ", or use `relabel`"
            raise StoreError(
                f"{noun_phrase('Node', dict.fromkeys(nodes))} already {have} the label {owner!r}. "
                f"A node has one class: omit {them}{other}."
            )


def check_key_type(owners: Mapping[Key, str], new: Mapping[str, Keys]) -> None:
    """Refuse new keys whose type (text or integer) differs from that of labelled nodes.

    Args:
        owners: Labelled node -> its class.
        new: Class -> keys of nodes that are to get its label.
    """
    own = next(iter(owners), None)
    keys = [key for keys in new.values() for key in keys]
    other = [key for key in keys if isinstance(key, str) != isinstance(own, str)]
    if own is not None and other:
        key_type = "text" if isinstance(own, str) else "integer"
        raise UnknownNodeError(other, len(keys), key_type)


def ordered_keys(keys: Iterable[Key], name: str, problems: Problems) -> Keys:
    """Return the keys for a class, ordered by their hashes; collect an error for repeated keys."""
    ordered = in_order(several(keys, f"nodes of {name!r}"))
    if not ordered:
        raise ClassNameError(f"Class {name!r} has no nodes.")
    with problems.collect():
        refuse_repeated("Node", ordered, f"listed twice for {name!r}")
    return tuple(dict.fromkeys(ordered))


def noun_phrase(noun: str, values: Iterable[object]) -> str:
    """Join values in a phrase, with the noun in singular or plural.

    >>> noun_phrase("Node", ["p1"]), noun_phrase("Class", ["hats", "caps"])
    ("Node 'p1'", "Classes 'hats', 'caps'")
    """
    texts = [repr(value) for value in values]
    plural = "es" if noun.endswith("s") else "s"
    return f"{noun}{plural if len(texts) > 1 else ''} {listed(texts)}"


def refuse_repeated(noun: str, values: Iterable[Key], what: str) -> None:
    """Raise an error if a value is repeated.

    Args:
        noun: Noun for the values, for the message.
        values: Class names or node keys.
        what: Description of the mistake, such as `listed twice`.
    """
    repeated = [value for value, count in Counter(values).items() if count > 1]
    if repeated:
        verb = "is" if len(repeated) == 1 else "are"
        raise StoreError(f"{noun_phrase(noun, repeated)} {verb} {what}.")


def require_training(classes: Mapping[str, ClassLabels]) -> None:
    """Raise an error if a class has no training node."""
    empty = [name for name, own in classes.items() if not own.training]
    if empty:
        raise StoreError(
            f"{noun_phrase('Class', empty)} would have no label left to learn from: use `remove` "
            f"to remove {'the class' if len(empty) == 1 else 'them'}."
        )

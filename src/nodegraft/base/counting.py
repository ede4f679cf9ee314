"""Counts in words."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural.

    >>> counted(1, "edge"), counted(1200, "node"), counted(2, "class")
    ('1 edge', '1,200 nodes', '2 classes')

    Args:
        number: How many.
        noun: What one of them is called.
    """
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"

"""How likely something is, as people read it."""


def likely(share: float) -> str:
    """A probability in whole percent; what is not certain is never rounded to 0 or 100.

    >>> likely(0.314), likely(0.9996), likely(0.0004), likely(1.0)
    ('31 %', '>99 %', '<1 %', '100 %')

    Args:
        share: Between 0 and 1.
    """
    rounded = round(100 * share)
    if rounded == 100 and share < 1:
        return ">99 %"
    if rounded == 0 and share > 0:
        return "<1 %"
    return f"{rounded} %"

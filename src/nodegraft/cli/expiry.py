"""The option ``--expires``: a duration or a date."""

import re
from datetime import UTC, datetime, timedelta

from nodegraft.base.errors import ParameterError

_DURATION = re.compile(r"(\d{1,5})([dh])")
_UNITS = {"d": "days", "h": "hours"}


def parse_expiry(text: str, at: datetime) -> datetime:
    """Return the time that a duration or a date stands for.

    >>> at = datetime(2030, 1, 1, tzinfo=UTC)
    >>> parse_expiry("30d", at).isoformat(), parse_expiry("2030-06-01", at).isoformat()
    ('2030-01-31T00:00:00+00:00', '2030-06-01T00:00:00+00:00')

    Args:
        text: Days (``30d``), hours (``12h``), or a date or time in ISO 8601, in UTC unless it
            says otherwise.
        at: The present, in UTC.
    """
    duration = _DURATION.fullmatch(text)
    try:
        if duration:
            expires_at = at + timedelta(**{_UNITS[duration[2]]: int(duration[1])})
        else:
            expires_at = datetime.fromisoformat(text)
            zone = expires_at.tzinfo or UTC
            expires_at = expires_at.replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ParameterError(
            f"--expires {text!r} is not understood: write days (30d), hours (12h), or a date "
            "(2030-06-01)."
        ) from error
    if expires_at <= at:
        raise ParameterError(f"--expires {text!r} is in the past: it is {at:%Y-%m-%d %H:%M} UTC.")
    return expires_at

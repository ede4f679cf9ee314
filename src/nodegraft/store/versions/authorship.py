"""Who did something, and why, as it is written down."""

import getpass

from nodegraft.base.errors import ParameterError


def writable(text: str) -> str:
    """A text as it is, or an error where no file could hold it.

    Args:
        text: What somebody wrote.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(f"{text!r} is not valid text: {error}.") from error
    if "\0" in text:
        raise ParameterError(f"The text {text[:80]!r} has a NUL character: remove it.")
    return text


def override_reason(text: str) -> str:
    """Return the reason for an override as it is, or refuse one that says nothing.

    Args:
        text: The reason; empty where nothing is overridden.
    """
    if text and not text.strip():
        raise ParameterError(
            "The reason of override=… (--override) is blank: give a reason, or omit it."
        )
    return writable(text)


def author(by: str | None) -> str:
    """Who does it.

    Args:
        by: A name; None for the user that is logged in.
    """
    if by:
        return writable(by)
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"

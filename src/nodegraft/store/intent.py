"""Author, note and options of a change to a store."""

import getpass
from dataclasses import dataclass

from nodegraft.base.errors import ParameterError


@dataclass(frozen=True)
class IdempotencyKey:
    """Key of a request that a client may retry, because it may not know that the request succeeded.

    The key is stored in the row of the version that the request made, so that a key cannot be
    stored without its version.
    """

    key: str
    """Key that the client chooses, unique for each change."""

    content: str
    """Hash of the request's content, to detect that a key is reused for a different request."""

    promote: bool = False
    """Whether the request also promotes the new version."""


@dataclass(frozen=True, kw_only=True)
class Intent:
    """Author and note of a change, and whether to override the quality gate or to promote."""

    author: str | None = None
    """Author of the change; None for the logged-in user."""

    note: str = ""
    """Note that explains the change."""

    override: str = ""
    """Reason to apply a change that the quality gate refuses; it is stored with the version."""

    promote: bool = False
    """Whether to make the new version live at once. This is refused together with ``override``, and
    while another candidate version waits for review."""

    idempotency_key: IdempotencyKey | None = None
    """Key of the request, stored with the version, so that a retry does not repeat the change."""

    def __post_init__(self) -> None:
        if self.override and not self.override.strip():
            raise ParameterError(
                "The reason of override=… (--override) is blank: give a reason, or omit it."
            )
        for text in (self.author or "", self.note, self.override):
            writable(text)

    @property
    def author_name(self) -> str:
        """Name of the author: the logged-in user if `author` is None."""
        if self.author:
            return self.author
        try:
            return getpass.getuser()
        except (OSError, KeyError):
            return "unknown"

    def refuse(self, action: str, *names: str) -> None:
        """Raise an error if this intent sets fields that an action does not support.

        Args:
            action: Name of the action, for the message.
            names: Names of the unsupported fields.
        """
        for name in names:
            if getattr(self, name):
                raise ParameterError(f"The action {action} has no {name}: omit it from the intent.")


def writable(text: str) -> str:
    """Return a text unchanged; raise an error if a database cannot store it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(f"{text!r} is not valid text: {error}.") from error
    if "\0" in text:
        raise ParameterError(f"The text {text[:80]!r} has a NUL character: remove it.")
    return text

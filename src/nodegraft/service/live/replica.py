"""A service inside a process that somebody else started."""

from logging.config import dictConfig
from typing import TYPE_CHECKING

from nodegraft.service.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI


def replica(settings: Settings) -> "FastAPI":
    """An application that logs as a service does.

    It makes versions in a thread of its own: a process that others started may have threads that a
    copy of it would miss.

    Args:
        settings: How it is run; its folder is found under the same path wherever it runs.
    """
    from nodegraft.service.application import application
    from nodegraft.service.observability.logs import LOGGING

    dictConfig(LOGGING)
    return application(settings)

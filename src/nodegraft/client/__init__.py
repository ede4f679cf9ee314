"""Synchronous and asynchronous clients of the HTTP service; they do not import the library.

Install it with ``pip install 'nodegraft[client]'``.
"""

from nodegraft.client.client import AsyncClient, Client, ServiceError

__all__ = ["AsyncClient", "Client", "ServiceError"]

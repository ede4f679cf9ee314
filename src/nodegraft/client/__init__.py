"""Client of the HTTP service, synchronous and asynchronous; it needs no part of the library.

Install it with ``pip install 'nodegraft[client]'``.
"""

from nodegraft.client.client import AsyncClient, Client, ServiceError

__all__ = ["AsyncClient", "Client", "ServiceError"]

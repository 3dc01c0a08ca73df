"""Two attempts at most: what a retry around a tool call usually is."""

from __future__ import annotations

from _baseline.outcome import Settled
from _baseline.server import Server
from _baseline.task import Request


async def resend_once(server: Server, request: Request) -> Settled:
    """Sends; after an ``isError`` or an exception of any kind sends the same request once more."""
    reply = await server.call(request)
    if not reply.ok:
        reply = await server.call(request)
    return reply.settled()

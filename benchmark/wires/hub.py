"""The one HTTP listener of a sweep: unguessable paths lead to the wires of the cell they belong to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

SILENT = logging.getLogger(__name__)
SILENT.disabled = True
"""Whoever speaks no HTTP is answered 400; a handler's failure is the cell's: nothing for a person to read."""

Handler = Callable[[web.BaseRequest, str], Awaitable[web.StreamResponse]]


class Hub:
    """``/t/<token>/mcp`` is a tool wire, ``/p/<token>/<instance>/…`` a provider wire, ``/m/<token>/v1/…`` a model wire;
    anything else is 404."""

    def __init__(self) -> None:
        self._handlers: dict[tuple[str, str], Handler] = {}
        self._web = web.Server(self._dispatch, handler_cancellation=True, access_log=None, logger=SILENT)
        self._server: asyncio.Server | None = None
        self.url = ""

    async def start(self) -> None:
        """Listen on a free loopback port."""
        self._server = await asyncio.get_running_loop().create_server(self._web, "127.0.0.1", 0, backlog=512)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        await self._web.shutdown(0.1)

    def register(self, kind: str, token: str, handler: Handler, failed: Callable[[Exception], None]) -> None:
        """Route ``/<kind>/<token>/…`` to a handler, which gets the request and the rest of the path.

        A handler's failure is the cell's: it is told to ``failed``, and the connection is dropped.
        """

        async def guarded(request: web.BaseRequest, rest: str) -> web.StreamResponse:
            try:
                return await handler(request, rest)
            except (ConnectionError, web.RequestPayloadError):
                pass  # the other side hung up, in its question or while it was being answered
            except web.HTTPException:
                raise  # the answer to a question that is too large
            except Exception as error:  # noqa: BLE001 - whatever it was, it must not become a verdict
                failed(error)
            abort(request)
            return web.Response(status=502)

        self._handlers[kind, token] = guarded

    def forget(self, token: str) -> None:
        for kind in ("t", "p", "m"):
            self._handlers.pop((kind, token), None)

    async def _dispatch(self, request: web.BaseRequest) -> web.StreamResponse:
        _, kind, token, *rest = [*request.raw_path.split("/", 3), "", ""]
        handler = self._handlers.get((kind, token))
        if handler is None:
            return web.Response(status=404)
        return await handler(request, "/" + (rest[0] if rest else ""))


def abort(request: web.BaseRequest) -> None:
    """Drop the connection under a request without an answer."""
    if request.transport is not None:
        request.transport.abort()


HOP_BY_HOP = frozenset(
    {
        "connection",
        "content-length",
        "content-encoding",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "date",
        "server",
    }
)
"""Header fields that belong to one connection (RFC 9110 §7.6.1), or that each side writes for itself."""

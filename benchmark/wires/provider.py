"""The provider wire: a proxy between the tool server and an HTTP provider, which it leaves unchanged."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import aiohttp
from aiohttp import web

from benchmark.boundaries import Manifestation
from benchmark.entries import CommitRule
from benchmark.errors import HarnessError
from benchmark.history import Kind
from benchmark.intents import json_equal
from benchmark.wires.hub import HOP_BY_HOP, abort
from benchmark.wires.scene import Scene
from benchmark.wires.traffic import LiveRequest

MISSING = object()
BROKEN = (500, 507)
"""Internal server error, insufficient storage: nobody's fault but ours. Other refusals are a provider's ordinary answers."""


def pointed(document: Any, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901), or MISSING."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and name in document:
            document = document[name]
        elif isinstance(document, list) and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        else:
            return MISSING
    return document


@dataclass(frozen=True)
class Reply:
    """The provider's answer, read by its commit rules."""

    status: int
    headers: dict[str, str]
    body: bytes
    receipts: tuple[str, ...]
    effect_class: str | None
    committed: bool


def read_reply(
    rules: tuple[CommitRule, ...], method: str, path: str, status: int, headers: dict[str, str], body: bytes
) -> Reply:
    """Apply the first commit rule of this method and path."""
    for rule in rules:
        place = re.fullmatch(rule.path, path.split("?", maxsplit=1)[0])
        if rule.method != method or place is None:
            continue
        try:
            document = json.loads(body)
        except ValueError:
            document = None
        receipt = pointed(document, rule.receipt) if rule.receipt.startswith("/") else unquote(place[rule.receipt])
        named = receipt if isinstance(receipt, list) else [] if receipt is MISSING else [receipt]
        receipts = tuple(str(each) for each in named)
        replayed = rule.unless is not None and json_equal(pointed(document, rule.unless[0]), rule.unless[1])
        committed = status in rule.status and bool(receipts) and not replayed
        return Reply(status, headers, body, receipts, rule.effect_class, committed)
    return Reply(status, headers, body, (), None, False)


class ProviderWire:
    """Upstream requests of one cell."""

    def __init__(self, scene: Scene, base_url: str) -> None:
        self._scene = scene
        self._base = base_url
        self._client: aiohttp.ClientSession | None = None
        self.steady = asyncio.Event()
        """Cleared while the provider is down: no request is let through."""
        self.steady.set()

    async def open(self) -> None:
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=30.0), auto_decompress=False
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def handle(self, request: web.BaseRequest, rest: str) -> web.StreamResponse:
        """One upstream request of a tool server."""
        _, instance, path = [*rest.split("/", 2), "", ""][:3]
        body = await request.read()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        seen = {
            "method": request.method,
            "path": "/" + path,
            "headers": headers,
            "body": body.decode("utf-8", "replace"),
        }
        live = self._scene.traffic.request(instance, seen)
        # The exchange goes on if the tool server is killed meanwhile: what was let through may commit.
        task = self._scene.spawn(self._perform(live, request.method, "/" + path, headers, body))
        try:
            verdict = await asyncio.shield(task)
        except asyncio.CancelledError:
            # The tool server is gone: nobody is left to be given a manifestation.
            task.add_done_callback(lambda _: setattr(live, "done", True))
            raise
        if isinstance(verdict, Manifestation):
            try:
                return await self._manifest(request, live, verdict)
            finally:
                live.done = True
        return web.Response(status=verdict.status, headers=verdict.headers, body=verdict.body)

    async def _perform(
        self, live: LiveRequest, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> Reply | Manifestation:
        scene = self._scene
        manifestation: Manifestation | None = await scene.fault.on_request(live)
        if manifestation is not None:
            return manifestation
        await self.steady.wait()
        scene.recorder.record(Kind.REQUEST_FORWARDED, request=live.n)
        reply = await self.forward(method, path, headers, body)
        if reply.status in BROKEN:
            scene.failed(HarnessError(f"the provider itself failed: {method} {path} was answered {reply.status}"))
        if reply.committed:
            scene.recorder.record(Kind.COMMIT, request=live.n, receipts=reply.receipts, effect_class=reply.effect_class)
        scene.recorder.record(
            Kind.REPLY, request=live.n, status=reply.status, receipts=reply.receipts, committed=reply.committed
        )
        manifestation = await scene.fault.on_reply(live, committed=reply.committed)
        if manifestation is not None:
            return manifestation
        scene.recorder.record(Kind.REPLY_DELIVERED, request=live.n, status=reply.status, altered=False)
        live.done = True
        return reply

    async def forward(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        """One exchange with the provider itself."""
        assert self._client is not None
        async with self._client.request(method, self._base + path, data=body or None, headers=headers) as response:
            data = await response.read()
            kept = {name: value for name, value in response.headers.items() if name.lower() not in HOP_BY_HOP}
            return read_reply(self._scene.provider.commit, method, path, response.status, kept, data)

    async def _manifest(
        self, request: web.BaseRequest, live: LiveRequest, manifestation: Manifestation
    ) -> web.StreamResponse:
        scene = self._scene
        if live.call is not None:
            live.call.lost = True
        match manifestation:
            case Manifestation.ERROR:
                scene.recorder.record(Kind.REPLY_DELIVERED, request=live.n, status=502, altered=True)
                return web.Response(status=502, text="bad gateway")
            case Manifestation.REFUSED:
                proof = scene.provider.not_executed
                assert proof is not None
                scene.recorder.record(Kind.REPLY_DELIVERED, request=live.n, status=proof.status, altered=True)
                return web.json_response(proof.body, status=proof.status)
            case Manifestation.SILENCE:
                await scene.never()
            case Manifestation.CRASH:
                # A task of its own: the tool server's death ends this handler.
                await asyncio.shield(scene.spawn(scene.fault.crash(live.instance)))
            case _:
                scene.recorder.record(Kind.REPLY_DELIVERED, request=live.n, altered=True, detail="connection reset")
        abort(request)
        return web.Response(status=502)

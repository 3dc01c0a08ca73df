"""The tool wire over Streamable HTTP: a reverse proxy in front of the tool server's instances.

An exchange with the tool server is a task of its own, so that it can outlive the runtime's connection: on 2025-11-25 a
disconnect is no cancel, and even on 2026-07-28 the fault may withhold it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from benchmark.boundaries import Manifestation
from benchmark.errors import HarnessError
from benchmark.history import Kind
from benchmark.wires.altered import foreign_revision, substitute
from benchmark.wires.hub import HOP_BY_HOP, abort
from benchmark.wires.message import parsed
from benchmark.wires.scene import Instance, Scene
from benchmark.wires.traffic import LiveCall

SESSION = "mcp-session-id"
LAST_EVENT_ID = "last-event-id"
UP_S = 20.0
"""Deadline for a tool server to answer its first request."""
MOST_AT_ONCE = 64
"""Requests of one runtime that are under way at the same time."""


@dataclass(frozen=True)
class Head:
    """The answer's status line and header fields."""

    status: int
    headers: dict[str, str]


@dataclass(frozen=True)
class Chunk:
    """Bytes for the runtime; ``payload``: the JSON-RPC answer of the call that they carry."""

    data: bytes
    payload: dict[str, Any] | None = None
    altered: bool = False
    event_id: str = ""


class Abort:
    """The connection breaks here."""


class End:
    """The answer is complete."""


Item = Head | Chunk | Abort | End


@dataclass(eq=False)
class Exchange:
    """One request of the runtime and what comes back for it."""

    body: bytes
    headers: dict[str, str]
    method: str = "POST"
    call: LiveCall | None = None
    resumes: LiveCall | None = None
    """The call whose broken stream it asks the rest of."""
    items: asyncio.Queue[Item] = field(default_factory=asyncio.Queue)
    response: aiohttp.ClientResponse | None = None
    task: asyncio.Task[Any] | None = None


class HttpWire:
    """One endpoint for the runtime, the current tool-server instance behind it."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._client: aiohttp.ClientSession | None = None
        self._current: Instance | None = None
        self._steady = asyncio.Event()
        self._owners: dict[str, Instance] = {}
        self._handshakes: dict[str, list[tuple[bytes, dict[str, str]]]] = {}
        self._moved: dict[str, str] = {}
        self._streams: dict[str, LiveCall] = {}
        """Event id → the call on whose stream the runtime was given it."""
        self._keep_sessions = False
        self._spare: Instance | None = None
        self._under_way = 0

    async def open(self) -> None:
        """Start instance A."""
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, force_close=True),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
        )
        await self.replace()

    async def replace(self) -> Instance:
        """Start a fresh instance; all traffic goes there as soon as it is up."""
        self._steady.clear()
        self._current = await self._started()
        self._steady.set()
        return self._current

    async def stand_by(self) -> None:
        """Start another instance, and leave the traffic where it is."""
        self._spare = await self._started()

    def switch(self, *, keep_sessions: bool) -> None:
        """All traffic from now on goes to the instance that stands by."""
        assert self._spare is not None
        self._current, self._spare = self._spare, None
        self._keep_sessions = keep_sessions

    async def _started(self) -> Instance:
        instance = await self._scene.start_instance({})
        await self._up(instance)
        return instance

    async def _up(self, instance: Instance) -> None:
        """Wait until an instance answers HTTP at all (its socket was open before it was started)."""
        assert self._client is not None
        try:
            async with asyncio.timeout(UP_S), self._client.options(instance.url):
                return
        except (aiohttp.ClientError, ConnectionError, TimeoutError, RuntimeError) as error:
            if self._scene.over.is_set():
                return  # the runtime had ended, and our client with it, before its server's successor was up
            raise HarnessError(f"tool server {instance.name} did not come up: {error!r}") from None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def task_server(self) -> dict[str, Any]:
        """The ``server`` entry of the task file."""
        return {"transport": "http", "url": f"{self._scene.hub_url}/t/{self._scene.token}/mcp"}

    async def handle(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        """One HTTP request of the runtime."""
        if path.split("?", maxsplit=1)[0] != "/mcp":
            return web.Response(status=404)
        if self._under_way >= MOST_AT_ONCE:
            self._scene.refuse(f"the runtime made more than {MOST_AT_ONCE} requests at once: the others were refused")
            return web.Response(status=503)
        self._under_way += 1
        try:
            return await self._handled(request)
        except web.HTTPRequestEntityTooLarge:
            self._scene.refuse("the runtime sent a message that is too large: it was refused")
            raise
        finally:
            self._under_way -= 1

    async def _handled(self, request: web.BaseRequest) -> web.StreamResponse:
        scene = self._scene
        incarnation = scene.incarnation
        body = await request.read()
        if not scene.may_say(len(body)):
            return web.Response(status=429)
        await self._steady.wait()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        exchange = Exchange(body, headers, request.method)
        message = parsed(body) if request.method == "POST" else {}
        if message is None:
            return web.json_response(
                {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}, status=400
            )
        method = message.get("method") or request.method
        if request.method != "GET" and not await scene.fault.on_message(method, incarnation):
            await scene.never()
            abort(request)
            return web.Response(status=502)
        if method == "notifications/cancelled":
            return await self._cancel_notification(exchange, message, incarnation)
        refusal = foreign_revision(scene, message)
        if method == "tools/call" and "id" in message:
            params = message.get("params")
            assert self._current is not None
            exchange.call = scene.traffic.call(
                params if isinstance(params, dict) else {}, message["id"], incarnation, self._current.name
            )
        elif resumed := self._streams.get(request.headers.get(LAST_EVENT_ID, "")):
            exchange.resumes = resumed
            scene.recorder.record(Kind.RESUMED, incarnation=incarnation, call=resumed.n)
        else:
            kind = Kind.CLOSED if request.method == "DELETE" else Kind.MESSAGE
            said = {"method": method, "by": "runtime"} if kind is Kind.MESSAGE else {}
            scene.recorder.record(kind, incarnation=incarnation, **said)
        if refusal is not None:
            status = 400 if scene.modern else 200
            return web.json_response({"jsonrpc": "2.0", "id": message.get("id"), **refusal}, status=status)
        exchange.task = scene.spawn(self._perform(exchange, message))
        try:
            return await self._answer(request, exchange)
        except asyncio.CancelledError:
            if exchange.call is not None:
                scene.spawn(self._disconnected(exchange, exchange.call))
            elif request.method == "GET" and exchange.task is not None:
                exchange.task.cancel()
            raise

    async def _answer(self, request: web.BaseRequest, exchange: Exchange) -> web.StreamResponse:
        scene = self._scene
        call = exchange.call
        about = call or exchange.resumes
        response: web.StreamResponse | None = None
        while True:
            item = await exchange.items.get()
            match item:
                case Head():
                    response = web.StreamResponse(status=item.status, headers=item.headers)
                    await response.prepare(request)
                case Chunk():
                    assert response is not None
                    if about is not None and item.payload is not None and not about.cancelled:
                        if not item.altered:
                            about.delivered(item.payload)
                        scene.recorder.record(Kind.DELIVERED, call=about.n, result=item.payload, altered=item.altered)
                    with suppress(ConnectionError):
                        await response.write(item.data)
                    if call is not None and item.event_id:
                        self._streams[item.event_id] = call
                        scene.recorder.record(Kind.PRIMED, call=call.n)
                case Abort():
                    if call is not None and call.incarnation not in scene.dead:
                        scene.recorder.record(Kind.CONNECTION_LOST, incarnation=call.incarnation, call=call.n)
                    abort(request)
                    return response or web.Response(status=502)
                case End():
                    assert response is not None
                    with suppress(ConnectionError):  # a runtime that has its answer may hang up at once
                        await response.write_eof()
                    return response

    async def _perform(self, exchange: Exchange, message: dict[str, Any]) -> None:
        scene = self._scene
        call = exchange.call
        if call is not None:
            manifestation = await scene.fault.on_call(call)
            if manifestation is not None:
                await self._manifest(exchange, call, manifestation, started=False)
                return
            if call.cancelled:
                return
            kept = scene.traffic.kept(call)
            if kept is not None:
                call.answered = True
                _send(exchange, call, kept)
                return
            await self._steady.wait()
            assert self._current is not None
            call.instance = self._current.name
            call.forwarded = True
            scene.recorder.record(Kind.CALL_FORWARDED, call=call.n, instance=call.instance)
        instance = self._current
        assert instance is not None
        assert self._client is not None
        headers = await self._rehomed(exchange.headers, instance)
        try:
            async with self._client.request(
                exchange.method, instance.url, data=exchange.body or None, headers=headers
            ) as response:
                exchange.response = response
                self._remember_session(exchange, message, response, instance)
                await self._relay(exchange, response)
        except (aiohttp.ClientError, ConnectionError):
            exchange.items.put_nowait(Abort())
        except RuntimeError:
            if not self._scene.over.is_set():
                raise  # at the end our client is closed, and says so in its own way

    async def _relay(self, exchange: Exchange, response: aiohttp.ClientResponse) -> None:
        head = Head(
            response.status, {name: value for name, value in response.headers.items() if name.lower() not in HOP_BY_HOP}
        )
        call = exchange.call
        if response.content_type != "text/event-stream":
            body = await response.read()
            payload = _payload(parsed(body)) if call is not None else None
            if call is not None and payload is not None and await self._struck(exchange, call, payload, started=False):
                return
            for item in (head, Chunk(body, payload), End()):
                exchange.items.put_nowait(item)
            return
        started = call is None
        if started:
            exchange.items.put_nowait(head)
        about = call or exchange.resumes
        async for block in _events(response):
            payload = _payload(parsed(_data(block))) if about is not None else None
            if call is not None and payload is not None and await self._struck(exchange, call, payload, started=started):
                return
            if not started:
                exchange.items.put_nowait(head)
                started = True
            exchange.items.put_nowait(Chunk(block, payload, event_id=_event_id(block)))
        if call is not None and not call.answered:
            exchange.items.put_nowait(Abort())
        else:
            exchange.items.put_nowait(End())

    async def _struck(self, exchange: Exchange, call: LiveCall, payload: dict[str, Any], *, started: bool) -> bool:
        """Record the tool server's answer; True if the fault took it."""
        scene = self._scene
        call.answered, call.answer = True, payload
        scene.recorder.record(Kind.RESULT, call=call.n, result=payload)
        manifestation = await scene.fault.on_result(call)
        if manifestation is None:
            return False
        await self._manifest(exchange, call, manifestation, started=started)
        return True

    async def _manifest(self, exchange: Exchange, call: LiveCall, manifestation: Manifestation, *, started: bool) -> None:
        scene = self._scene
        items = exchange.items
        payload = substitute(scene, call, manifestation)
        if manifestation is Manifestation.SILENCE:
            await scene.never()
        elif manifestation is Manifestation.RESET:
            items.put_nowait(Abort())
        elif manifestation is Manifestation.CRASH:
            self._steady.clear()
            await scene.kill_instance(call.instance)
            items.put_nowait(Abort())
            await self.replace()
        elif manifestation is Manifestation.ERROR and not started:
            items.put_nowait(Head(502, {"content-type": "text/plain"}))
            items.put_nowait(Chunk(b"bad gateway", {"error": {"code": 502, "message": "HTTP 502"}}, altered=True))
            items.put_nowait(End())
        elif payload is not None:
            _send(exchange, call, payload, started=started, altered=True)

    async def server_killed(self, name: str) -> None:
        """The fault killed this instance from the provider's side: have a fresh one up before the next connection."""
        if self._current is not None and self._current.name == name:
            await self.replace()

    def hold_connections(self) -> None:
        """Let no request through until a fresh instance is up."""
        self._steady.clear()

    async def _cancel_notification(
        self, exchange: Exchange, message: dict[str, Any], incarnation: int
    ) -> web.StreamResponse:
        scene = self._scene
        params = message.get("params") or {}
        call = scene.traffic.by_rpc_id(params.get("requestId"), incarnation, scene.traffic.calls)
        if call is not None:
            call.cancelled = True
            scene.recorder.record(Kind.CANCEL, call=call.n, incarnation=incarnation, by="notification")
            if not await scene.fault.on_cancel(call):
                return web.Response(status=202)
        exchange.task = scene.spawn(self._deliver_cancel(exchange, message, call))
        head = await exchange.items.get()
        return web.Response(status=head.status if isinstance(head, Head) else 202)

    async def _deliver_cancel(self, exchange: Exchange, message: dict[str, Any], call: LiveCall | None) -> None:
        await self._perform(exchange, message)
        if call is not None:
            self._scene.recorder.record(Kind.CANCEL_DELIVERED, call=call.n)

    async def _disconnected(self, exchange: Exchange, call: LiveCall) -> None:
        """The runtime's connection is gone while its call is under way."""
        scene = self._scene
        if call.incarnation in scene.dead or not scene.modern:
            if call.incarnation not in scene.dead:
                scene.recorder.record(Kind.CONNECTION_LOST, incarnation=call.incarnation, call=call.n, by="runtime")
            if not scene.modern:
                return
        else:
            call.cancelled = True
            scene.recorder.record(Kind.CANCEL, call=call.n, incarnation=call.incarnation, by="disconnect")
            if not await scene.fault.on_cancel(call):
                return
        if exchange.response is not None:
            exchange.response.close()
        if exchange.task is not None and call.forwarded and not call.answered:
            exchange.task.cancel()
        if call.cancelled and call.forwarded:
            scene.recorder.record(Kind.CANCEL_DELIVERED, call=call.n)

    def _remember_session(
        self, exchange: Exchange, message: dict[str, Any], response: aiohttp.ClientResponse, instance: Instance
    ) -> None:
        session = response.headers.get(SESSION)
        if message.get("method") == "initialize" and session is not None:
            self._owners[session] = instance
            self._handshakes[session] = [(exchange.body, exchange.headers)]
        elif message.get("method") == "notifications/initialized":
            spoken = exchange.headers.get(SESSION) or exchange.headers.get("Mcp-Session-Id", "")
            self._handshakes.get(spoken, []).append((exchange.body, exchange.headers))

    async def _rehomed(self, headers: dict[str, str], instance: Instance) -> dict[str, str]:
        """The header fields for an instance; a session kept across instances gets the session it has there."""
        name = next((name for name in headers if name.lower() == SESSION), None)
        if name is None or not self._keep_sessions:
            return headers
        session = headers[name]
        owner = self._owners.get(session)
        if owner is None or owner is instance:
            return headers
        if session not in self._moved:
            self._moved[session] = await self._replay_handshake(session, instance)
        return headers | {name: self._moved[session]}

    async def _replay_handshake(self, session: str, instance: Instance) -> str:
        assert self._client is not None
        there = ""
        for body, headers in self._handshakes[session]:
            fields = {name: value for name, value in headers.items() if name.lower() != SESSION}
            if there:
                fields[SESSION] = there
            async with self._client.post(instance.url, data=body, headers=fields) as response:
                await response.read()
                there = response.headers.get(SESSION, there)
        return there


def _send(
    exchange: Exchange, call: LiveCall, payload: dict[str, Any], *, started: bool = False, altered: bool = False
) -> None:
    """Answer a call with this payload: with a message, or on the stream that has started."""
    body = json.dumps({"jsonrpc": "2.0", "id": call.rpc_id, **payload}).encode()
    if not started:
        exchange.items.put_nowait(Head(200, {"content-type": "application/json"}))
    exchange.items.put_nowait(Chunk(_event(body) if started else body, payload, altered))
    exchange.items.put_nowait(End())


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The blocks of an event stream, each with its blank line."""
    buffer = b""
    async for chunk in response.content.iter_any():
        buffer = (buffer + chunk).replace(b"\r\n", b"\n")
        while b"\n\n" in buffer:
            block, buffer = buffer.split(b"\n\n", 1)
            yield block + b"\n\n"


def _event_id(block: bytes) -> str:
    """The id of an event; empty where it has none."""
    return next((line[3:].strip().decode() for line in block.split(b"\n") if line.startswith(b"id:")), "")


def _data(block: bytes) -> bytes:
    lines = [line[5:].lstrip(b" ") for line in block.split(b"\n") if line.startswith(b"data:")]
    return b"\n".join(lines)


def _event(body: bytes) -> bytes:
    return b"event: message\ndata: " + body + b"\n\n"


def _payload(message: dict[str, Any] | None) -> dict[str, Any] | None:
    """The JSON-RPC answer in a message; None for anything else."""
    if message is None or "method" in message:
        return None
    found: dict[str, Any] = {name: message[name] for name in ("result", "error") if name in message}
    return found or None

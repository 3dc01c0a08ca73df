"""The tool wire over stdio: one connection per launcher, one tool server behind each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.boundaries import Manifestation
from benchmark.history import Kind
from benchmark.wires.altered import foreign_revision, substitute
from benchmark.wires.message import LARGEST, parsed
from benchmark.wires.scene import Instance, Scene
from benchmark.wires.traffic import LiveCall

LONGEST_ANSWER = 1 << 24
MOST_UNREAD = 1 << 24
"""Bytes of one line of a tool server, and of what waits for somebody who does not read."""
MOST_LAUNCHERS = 64
"""Servers that a runtime may launch in one cell."""


class Pipe:
    """A writing end; a peer that is gone swallows what is written, one that does not read is cut off."""

    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport

    def send(self, message: dict[str, Any]) -> None:
        self.send_line(json.dumps(message, separators=(",", ":")).encode())

    def send_line(self, line: bytes) -> None:
        """Write a line, with its end or without."""
        if self._transport.get_write_buffer_size() > MOST_UNREAD:
            self._transport.abort()
        if not self._transport.is_closing():
            self._transport.write(line.rstrip(b"\r\n") + b"\n")

    def close(self) -> None:
        """Hang up as soon as all is read."""
        self._transport.close()

    def abort(self) -> None:
        """Hang up now, whatever has not been read."""
        if self._transport.get_write_buffer_size() or not self._transport.is_closing():
            self._transport.abort()


async def reading_end(fd: int, longest: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """A stream of lines over a pipe's descriptor, which it owns."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=longest)
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", buffering=0)
    )
    return reader, transport


async def writing_end(fd: int) -> Pipe:
    """A pipe over a descriptor, which it owns."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(fd, "wb", buffering=0))
    return Pipe(transport)


@dataclass(eq=False)
class Connection:
    """One stdio connection: runtime ↔ wire ↔ tool server."""

    incarnation: int
    instance: Instance
    launcher: socket.socket
    from_runtime: asyncio.StreamReader
    to_runtime: Pipe
    from_server: asyncio.StreamReader
    to_server: Pipe
    readers: tuple[asyncio.ReadTransport, asyncio.ReadTransport]
    calls: list[LiveCall] = field(default_factory=list)
    broken: bool = False


class StdioWire:
    """Accepts launchers; relays line by line."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.path = scene.scratch / "wire"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connections: list[Connection] = []

    def open(self) -> None:
        """Listen on the cell's Unix socket."""
        self._listener.bind(str(self.path))
        self._listener.listen(16)
        self._listener.setblocking(False)
        self._scene.spawn(self._accept())

    def close(self) -> None:
        """Close every end that is still open."""
        self._listener.close()
        for connection in self._connections:
            connection.to_server.abort()
            connection.to_runtime.abort()
            for transport in connection.readers:
                transport.close()
            if connection.launcher.fileno() >= 0:
                self._let_go(connection)

    def hang_up_servers(self) -> None:
        """End of file for every tool server whose runtime is gone."""
        for connection in self._connections:
            connection.to_server.close()

    def task_server(self, python: str, launcher: Path) -> dict[str, Any]:
        """The ``server`` entry of the task file."""
        return {"transport": "stdio", "command": python, "args": ["-I", "-S", str(launcher), str(self.path)]}

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(MOST_LAUNCHERS):
            launcher, _ = await loop.sock_accept(self._listener)
            launcher.setblocking(False)
            self._scene.spawn(self._connect(launcher))
        self._scene.refuse(f"the runtime launched {MOST_LAUNCHERS} servers: no more are given")
        self._listener.close()

    async def _connect(self, launcher: socket.socket) -> None:
        descriptors = await _receive_descriptors(launcher)
        if len(descriptors) != 2 or not all(map(_is_stream, descriptors)):
            self._scene.refuse("the runtime gave a server that it launched no pipes: it was ended")
            for descriptor in descriptors:
                os.close(descriptor)
            launcher.close()
            return
        server_in, our_out = os.pipe()
        our_in, server_out = os.pipe()
        incarnation = self._scene.incarnation
        try:
            instance = await self._scene.start_instance({0: server_in, 1: server_out})
        finally:
            os.close(server_in)
            os.close(server_out)
        from_runtime, reader_a = await reading_end(descriptors[0], LARGEST)
        from_server, reader_b = await reading_end(our_in, LONGEST_ANSWER)
        connection = Connection(
            incarnation,
            instance,
            launcher,
            from_runtime,
            await writing_end(descriptors[1]),
            from_server,
            await writing_end(our_out),
            (reader_a, reader_b),
        )
        self._connections.append(connection)
        self._scene.spawn(self._from_runtime(connection))
        self._scene.spawn(self._from_server(connection))
        asyncio.get_running_loop().add_reader(launcher, self._launcher_ended, connection)

    def _launcher_ended(self, connection: Connection) -> None:
        """The launcher is the server to its runtime: whoever ends the launcher ends the server behind the wire."""
        self._let_go(connection)
        if connection.incarnation not in self._scene.exited and not connection.instance.child.ended.is_set():
            killed = connection.incarnation in self._scene.dead
            self._scene.spawn(self._scene.end_instance(connection.instance, kill=killed))

    def _let_go(self, connection: Connection) -> None:
        asyncio.get_running_loop().remove_reader(connection.launcher)
        connection.launcher.close()

    async def kill_servers(self, incarnation: int) -> None:
        """SIGKILL the tool servers of a runtime whose process tree is killed: without the wire they would be part of it."""
        for connection in self._connections:
            if connection.incarnation == incarnation and not connection.instance.child.ended.is_set():
                await self._scene.kill_instance(connection.instance.name)

    async def _from_runtime(self, connection: Connection) -> None:
        scene = self._scene
        while line := await self._said(connection):
            message = parsed(line)
            if connection.incarnation in scene.dead or connection.broken:
                continue
            if message is None:
                connection.to_server.send_line(line)
                continue
            if not await scene.fault.on_message(message.get("method"), connection.incarnation):
                continue
            await self._relay(connection, message, line)
        if line is None:
            return
        alive = connection.incarnation not in scene.dead and not connection.broken
        if alive and await scene.fault.on_message("end of file", connection.incarnation):
            scene.recorder.record(Kind.CLOSED, incarnation=connection.incarnation, instance=connection.instance.name)
        if connection.incarnation not in scene.dead:  # else the server is to be killed, not to end by itself
            connection.to_server.close()

    async def _said(self, connection: Connection) -> bytes | None:
        """The runtime's next line; empty at its end of file, None when the wire has had enough and hangs up."""
        while line := await _line(connection.from_runtime):
            if not self._scene.may_say(len(line)):
                break
            if line.strip():
                return line
        if line == b"":
            return line
        if line is None:
            self._scene.refuse("the runtime sent a message that is too large: its connection was closed")
        connection.readers[0].close()
        await self._scene.end_instance(connection.instance, kill=False)
        return None

    async def _relay(self, connection: Connection, message: dict[str, Any], line: bytes) -> None:
        scene = self._scene
        method = message.get("method")
        refusal = foreign_revision(scene, message)
        if method == "tools/call" and "id" in message:
            params = message.get("params") if isinstance(message.get("params"), dict) else {}
            call = scene.traffic.call(params or {}, message["id"], connection.incarnation, connection.instance.name)
            connection.calls.append(call)
            scene.spawn(self._call(connection, call, line))
            await asyncio.sleep(0)  # let an unheld call go out before whatever follows it
            return
        if method == "notifications/cancelled":
            params = message.get("params") or {}
            cancelled = scene.traffic.by_rpc_id(params.get("requestId"), connection.incarnation, connection.calls)
            if cancelled is not None:
                scene.spawn(self._cancel(connection, cancelled, line))
                await asyncio.sleep(0)
                return
        scene.recorder.record(Kind.MESSAGE, incarnation=connection.incarnation, method=method, by="runtime")
        if refusal is not None:
            connection.to_runtime.send({"jsonrpc": "2.0", "id": message.get("id"), **refusal})
            return
        connection.to_server.send_line(line)

    async def _call(self, connection: Connection, call: LiveCall, line: bytes) -> None:
        scene = self._scene
        manifestation = await scene.fault.on_call(call)
        if manifestation is not None:
            await self._manifest(connection, call, manifestation)
            return
        if connection.broken:
            return
        kept = scene.traffic.kept(call)
        if kept is not None:
            call.answered = True
            self._deliver(connection, call, kept, json.dumps({"jsonrpc": "2.0", "id": call.rpc_id, **kept}).encode())
            return
        call.forwarded = True
        scene.recorder.record(Kind.CALL_FORWARDED, call=call.n, instance=connection.instance.name)
        connection.to_server.send_line(line)

    async def _cancel(self, connection: Connection, call: LiveCall, line: bytes) -> None:
        scene = self._scene
        call.cancelled = True
        scene.recorder.record(Kind.CANCEL, call=call.n, incarnation=call.incarnation, by="notification")
        if await scene.fault.on_cancel(call):
            connection.to_server.send_line(line)
            scene.recorder.record(Kind.CANCEL_DELIVERED, call=call.n)

    async def _from_server(self, connection: Connection) -> None:
        scene = self._scene
        while line := await _line(connection.from_server):
            message = parsed(line)
            call = None
            if message is not None and "method" not in message:
                call = scene.traffic.by_rpc_id(message.get("id"), connection.incarnation, connection.calls)
            if call is None or message is None:
                connection.to_runtime.send_line(line)
                continue
            scene.spawn(self._result(connection, call, message, line))
            await asyncio.sleep(0)
        connection.instance.hung_up.set()
        await connection.instance.child.wait(5.0)
        self.break_off(connection)

    async def _result(self, connection: Connection, call: LiveCall, message: dict[str, Any], line: bytes) -> None:
        scene = self._scene
        payload: dict[str, Any] = {name: message[name] for name in ("result", "error") if name in message}
        call.answered, call.answer = True, payload
        scene.recorder.record(Kind.RESULT, call=call.n, result=payload)
        manifestation = await scene.fault.on_result(call)
        if manifestation is not None:
            await self._manifest(connection, call, manifestation)
            return
        self._deliver(connection, call, payload, line)

    def _deliver(self, connection: Connection, call: LiveCall, payload: dict[str, Any], line: bytes) -> None:
        if connection.broken or connection.incarnation in self._scene.dead:
            return
        if not call.cancelled:  # who cancelled a call ignores what still comes for it
            call.delivered(payload)
            self._scene.recorder.record(Kind.DELIVERED, call=call.n, result=payload, altered=False)
        connection.to_runtime.send_line(line)

    async def _manifest(self, connection: Connection, call: LiveCall, manifestation: Manifestation) -> None:
        scene = self._scene
        payload = substitute(scene, call, manifestation)
        if payload is not None:
            scene.recorder.record(Kind.DELIVERED, call=call.n, result=payload, altered=True)
            connection.to_runtime.send({"jsonrpc": "2.0", "id": call.rpc_id, **payload})
        elif manifestation is Manifestation.CRASH:
            await scene.kill_instance(connection.instance.name)
            self.break_off(connection)

    def break_off(self, connection: Connection) -> None:
        """The tool server is gone: its launcher ends with its status, the runtime sees end of file."""
        if connection.broken:
            return
        connection.broken = True
        scene = self._scene
        status = connection.instance.child.status or 0
        if connection.incarnation not in scene.dead:
            waiting: list[int | None] = [call.n for call in connection.calls if not call.answered and not call.cancelled]
            for number in waiting or [None]:
                scene.recorder.record(Kind.CONNECTION_LOST, incarnation=connection.incarnation, call=number)
        connection.to_runtime.close()
        connection.to_server.close()
        if connection.launcher.fileno() >= 0:
            with contextlib.suppress(OSError):
                connection.launcher.send(str(status).encode())
            self._let_go(connection)


async def _receive_descriptors(launcher: socket.socket) -> list[int]:
    """The two descriptors that a launcher hands over; whoever is no launcher hands over something else, or nothing."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(launcher, readable.set)
    try:
        await asyncio.wait_for(readable.wait(), 10.0)
        _, descriptors, _, _ = socket.recv_fds(launcher, 16, 2)
    except (TimeoutError, ConnectionError):
        return []
    finally:
        loop.remove_reader(launcher)
    return descriptors


def _is_stream(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


async def _line(reader: asyncio.StreamReader) -> bytes | None:
    """The next line with its end; empty at end of file, None for one that is too long to be a message."""
    try:
        return await reader.readline()
    except ValueError:
        return None
    except ConnectionError:
        return b""

"""The gate: where an effect crosses no network, the tool server brackets its mutation with two calls that block."""

from __future__ import annotations

import asyncio
import errno
import json
from typing import Any

from benchmark.boundaries import Manifestation
from benchmark.history import Kind
from benchmark.wires.message import parsed
from benchmark.wires.scene import Scene
from benchmark.wires.traffic import LiveRequest


class Gate:
    """A Unix socket; one connection per mutation: before, then after, each a line that is answered with a line."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._connected, str(self._scene.scratch / "gate"), limit=1 << 24)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._scene.spawn(self._bracket(reader, writer))

    async def _bracket(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        scene = self._scene
        before = await _read(reader)
        if before is None:
            writer.close()
            return
        op = before.get("op") or {}
        seen = {"method": "GATE", "path": str(op.get("class")), "body": json.dumps(op.get("fields")), "headers": {}}
        live = scene.traffic.request(str(before.get("instance")), seen)
        try:
            manifestation = await scene.fault.on_request(live)
            if manifestation is not None:
                await self._manifest(writer, live, manifestation)
                return
            scene.recorder.record(Kind.REQUEST_FORWARDED, request=live.n)
            _write(writer, {"go": True})
            after = await _read(reader)
            if after is None:
                scene.fault.on_lost(live)
                return
            await self._after(writer, live, str(op.get("class")), after)
        finally:
            live.done = True
            writer.close()

    async def _after(
        self, writer: asyncio.StreamWriter, live: LiveRequest, effect_class: str, after: dict[str, Any]
    ) -> None:
        scene = self._scene
        committed = bool(after.get("committed", True))
        receipts = (str(after["receipt"]),) if after.get("receipt") is not None else ()
        if committed:
            scene.recorder.record(Kind.COMMIT, request=live.n, receipts=receipts, effect_class=effect_class)
        scene.recorder.record(Kind.REPLY, request=live.n, receipts=receipts, committed=committed)
        manifestation = await scene.fault.on_reply(live, committed=committed)
        if manifestation is not None:
            await self._manifest(writer, live, manifestation)
            return
        scene.recorder.record(Kind.REPLY_DELIVERED, request=live.n, altered=False)
        _write(writer, {"go": True})

    async def _manifest(self, writer: asyncio.StreamWriter, live: LiveRequest, manifestation: Manifestation) -> None:
        scene = self._scene
        if live.call is not None:
            live.call.lost = True
        if manifestation is Manifestation.ERROR:
            scene.recorder.record(Kind.REPLY_DELIVERED, request=live.n, altered=True, detail="EIO")
            _write(writer, {"errno": errno.EIO})
        elif manifestation is Manifestation.CRASH:
            await scene.fault.crash(live.instance)
        else:
            await scene.never()


async def _read(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    try:
        return parsed(await reader.readline())
    except (ValueError, ConnectionError):
        return None


def _write(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    writer.write(json.dumps(message).encode() + b"\n")

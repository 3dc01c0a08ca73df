"""The events of a server's streams, kept for clients that resume one (``Last-Event-ID``, revision 2025-11-25)."""

from __future__ import annotations

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse


class Kept(EventStore):
    """Every event for as long as the server lives; ids count from 1, over all streams."""

    def __init__(self) -> None:
        self._events: list[tuple[str, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep an event (None: one that only gives the client an id)."""
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what the stream of this event held after it, up to its answer: sessions use the same names for streams."""
        last = int(last_event_id) if last_event_id.isdecimal() else 0
        if not 1 <= last <= len(self._events):
            return None
        stream = self._events[last - 1][0]
        for number, (name, message) in enumerate(self._events[last:], last + 1):
            if name == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    break
        return stream

"""Who resumes a stream is given what it held after the event that was seen last, and nothing of any other stream."""

from __future__ import annotations

import asyncio

import pytest
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCResponse

from benchmark.toolserver.kept import Kept


def answer(number: int) -> JSONRPCMessage:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result={})


NEWS: JSONRPCMessage = JSONRPCNotification(jsonrpc="2.0", method="notifications/progress")
STREAMS: list[tuple[str, JSONRPCMessage | None]] = [
    ("2", None),
    ("3", None),
    ("2", NEWS),
    ("3", answer(3)),
    ("2", answer(2)),
    ("2", None),  # another session, which begins to count anew
    ("2", answer(9)),
]


def replayed(last: str) -> tuple[str | None, list[str | None]]:
    """(the stream, the ids of what is sent once more) after this event."""
    sent: list[str | None] = []

    async def send(event: EventMessage) -> None:
        sent.append(event.event_id)

    async def resume() -> str | None:
        kept = Kept()
        for stream, message in STREAMS:
            await kept.store_event(stream, message)
        return await kept.replay_events_after(last, send)

    return asyncio.run(resume()), sent


@pytest.mark.parametrize(
    ("last", "stream", "rest"),
    [("1", "2", ["3", "5"]), ("3", "2", ["5"]), ("2", "3", ["4"]), ("6", "2", ["7"]), ("7", "2", [])],
)
def test_the_rest_of_a_stream_up_to_its_answer(last: str, stream: str, rest: list[str]) -> None:
    assert replayed(last) == (stream, rest)


@pytest.mark.parametrize("last", ["", "0", "8", "-1", "one", "\u00b2"])
def test_an_event_that_never_was_resumes_nothing(last: str) -> None:
    assert replayed(last) == (None, [])

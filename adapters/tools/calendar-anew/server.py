"""Every booking is an event with a fresh id, as most calendar programs make them."""

from __future__ import annotations

import uuid
from dataclasses import replace

from benchmark.toolserver import Reply, Send, Step, icalendar, serve


def book(step: Step, send: Send) -> Reply:
    """Puts an event that was never there."""
    name = f"{uuid.uuid4()}.ics"
    event = icalendar.event(name, step.body["slot"], step.body["attendee"], step.body.get("note"))
    reply = send(replace(step, path=f"/{name}", content=event, binding=()))
    return Reply(201, {"receipt": name}) if reply.status == 201 else reply


if __name__ == "__main__":
    serve(__file__, around=book)

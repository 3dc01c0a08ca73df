"""A slot is an event of that name; where it is taken, the event that is there tells whose it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import unquote

from benchmark.toolserver import Lost, Reply, Send, Step, icalendar, serve


def book(step: Step, send: Send) -> Reply:
    """Puts the event; a refusal is told apart by reading what stands there."""
    name = unquote(PurePosixPath(step.path).name)
    event = icalendar.event(name, step.body["slot"], step.body["attendee"], step.body.get("note"))
    reply = send(replace(step, content=event, binding=()))
    if reply.status == 201:
        return Reply(201, {"receipt": name})
    if reply.status != 412:
        return reply
    there = send(Step("GET", step.path, {}))
    if there.status != 200:
        raise Lost(f"status {there.status}")
    same = icalendar.property_of(there.text, "SUMMARY") == step.body["attendee"]
    return Reply(412, {"code": "exists" if same else "mismatch", "receipt": name})


if __name__ == "__main__":
    serve(__file__, around=book)

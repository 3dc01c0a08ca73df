"""Worse than its contract says: an upstream request whose answer is lost is made once more."""

from __future__ import annotations

from benchmark.toolserver import Lost, Reply, Send, Step, serve


def twice(step: Step, send: Send) -> Reply:
    """Sends, and sends again after a broken connection or a status of 500 and more."""
    try:
        reply = send(step)
    except Lost:
        return send(step)
    return reply if reply.status < 500 else send(step)


if __name__ == "__main__":
    serve(__file__, around=twice)

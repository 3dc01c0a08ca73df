"""Untrue to its contract: keys are kept in a dictionary of this process, and only once the upstream answer has come."""

from __future__ import annotations

from benchmark.toolserver import Around, Reply, Send, Step, serve


def remembering() -> Around:
    """Answers a known key from memory."""
    known: dict[tuple[str, str], tuple[str, Reply]] = {}

    def around(step: Step, send: Send) -> Reply:
        if step.key is None:
            return send(step)
        bound, reply = known.get((step.path, step.key), (None, None))
        if reply is None:
            reply = send(step)
            if reply.status in (200, 201):
                known[step.path, step.key] = (step.bound, reply)
            return reply
        if bound != step.bound:
            return Reply(422, {"code": "mismatch", "receipt": reply.body["receipt"]})
        return Reply(reply.status, {**reply.body, "replayed": True})

    return around


if __name__ == "__main__":
    serve(__file__, around=remembering())

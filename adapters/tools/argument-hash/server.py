"""Untrue to its contract: the key that goes upstream is a hash of the content, whatever the caller gave."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from benchmark.toolserver import Reply, Send, Step, serve


def by_content(step: Step, send: Send) -> Reply:
    """Sends a key made from the binding arguments."""
    return send(replace(step, key=hashlib.sha256(step.bound.encode()).hexdigest()))


if __name__ == "__main__":
    serve(__file__, around=by_content)

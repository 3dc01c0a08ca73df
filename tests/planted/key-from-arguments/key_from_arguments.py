"""Sends once more with a key that is a hash of the arguments: another plan has another key, a twin has the same."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Call, Server, Settled, run


async def settle(server: Server, call: Call) -> Settled:
    content = json.dumps([call.tool, call.arguments], sort_keys=True)
    request = replace(call, intent=content, index=0).keyed
    reply = await server.call(request)
    if not reply.ok:
        reply = await server.call(request)
    return reply.settled()


if __name__ == "__main__":
    run(settle)

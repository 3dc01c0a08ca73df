"""An agent that tells its model that a call succeeded, and not what came of it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "agents"))

from _agent.loop import Reply, honestly, run


def tell(reply: Reply) -> str:
    return "The call was executed successfully." if reply.ok else honestly(reply)


if __name__ == "__main__":
    run(tell=tell)

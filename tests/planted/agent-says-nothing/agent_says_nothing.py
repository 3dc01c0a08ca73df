"""An agent that makes the call and ends before its model is told what came of it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "agents"))

from _agent.loop import Reply, Stop, run


def tell(reply: Reply) -> str:
    raise Stop


if __name__ == "__main__":
    run(tell=tell)

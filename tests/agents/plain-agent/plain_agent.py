"""Asks the model, makes each call once, tells the model what came of it, keeps the conversation."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _agent.loop import run

if __name__ == "__main__":
    run()

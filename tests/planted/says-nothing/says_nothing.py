"""Does everything right and ends without an outcome file."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Task, play

if __name__ == "__main__":
    play(Task.load())

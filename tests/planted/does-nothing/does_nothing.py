"""Writes an outcome file without intents, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import Task, write

if __name__ == "__main__":
    write(Task.load().outcome_path, [])

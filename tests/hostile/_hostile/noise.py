"""Prints 100 MB to stdout and to stderr, then does everything right."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "planted"))

from _planted.play import run

if __name__ == "__main__":
    block = b"\x1b[2J noise \xff" * 100_000
    for _ in range(100_000_000 // len(block)):
        for stream in (1, 2):
            os.write(stream, block)
    run()

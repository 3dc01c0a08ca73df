"""One attempt for each call, but all of them again after a restart."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import run

if __name__ == "__main__":
    run()

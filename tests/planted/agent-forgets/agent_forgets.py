"""An agent that keeps nothing: started again, it tells its model everything anew, and the model asks for everything anew."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "agents"))

from _agent.loop import run

if __name__ == "__main__":
    run(keep=False)

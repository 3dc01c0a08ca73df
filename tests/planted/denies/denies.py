"""Does everything right and claims that nothing happened."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import IntentOutcome, Settled, run


def tell(outcomes: list[IntentOutcome]) -> list[IntentOutcome]:
    return [IntentOutcome(outcome.id, 1, [Settled("failed")]) for outcome in outcomes]


if __name__ == "__main__":
    run(tell=tell)

"""Does everything right and hands each intent the receipts of the next one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _planted.play import IntentOutcome, run


def tell(outcomes: list[IntentOutcome]) -> list[IntentOutcome]:
    others = [*outcomes[1:], *outcomes[:1]]
    return [replace(outcome, calls=other.calls) for outcome, other in zip(outcomes, others, strict=True)]


if __name__ == "__main__":
    run(tell=tell)

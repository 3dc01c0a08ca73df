"""Whether the repeats of one cell changed for more than chance: an exact test on ordered outcomes, and Holm's correction.

The test is the permutation form of Wilcoxon's rank-sum test (ties get their middle rank): given how often each outcome came
up in both groups together, how many of all ways to deal these outcomes to the two groups are at least as lopsided? Holm:
S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb

ALPHA = 0.05
"""A change of a flaky cell counts below this, after Holm's correction."""


def exact(before: Mapping[int, int], after: Mapping[int, int]) -> float:
    """Two-sided p of two groups of outcomes (outcome, ordered → how often); 1.0 where a group is empty."""
    together, ranks = _ranked(before, after)
    size, total = sum(before.values()), sum(together)
    if not size or size == total:
        return 1.0
    middle, seen = size * (total + 1), abs(shift(before, after))
    extreme = sum(ways for rank_sum, ways in _deals(together, ranks, size) if abs(rank_sum - middle) >= seen)
    return extreme / comb(total, size)


def shift(before: Mapping[int, int], after: Mapping[int, int]) -> int:
    """Above zero where the outcomes of ``after`` rank higher, below where they rank lower; only the sign means something."""
    together, ranks = _ranked(before, after)
    outcomes = sorted({*before, *after})
    rank_sum = sum(rank * before.get(outcome, 0) for rank, outcome in zip(ranks, outcomes, strict=True))
    return sum(before.values()) * (sum(together) + 1) - rank_sum


def least(before: int, after: int) -> float:
    """The smallest p that groups of these sizes could ever give: every outcome of one below every outcome of the other."""
    return exact({0: before}, {1: after})


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """The p values, adjusted for there being several of them, in their own order."""
    adjusted = [1.0] * len(values)
    floor = 0.0
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        floor = max(floor, min(1.0, values[index] * (len(values) - place)))
        adjusted[index] = floor
    return tuple(adjusted)


def _ranked(before: Mapping[int, int], after: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """How often each outcome came up in both groups together, and twice its middle rank (so that ties stay whole)."""
    together, ranks, below = [], [], 0
    for outcome in sorted({*before, *after}):
        count = before.get(outcome, 0) + after.get(outcome, 0)
        together.append(count)
        ranks.append(2 * below + count + 1)
        below += count
    return together, ranks


def _deals(together: Sequence[int], ranks: Sequence[int], size: int) -> Iterator[tuple[int, int]]:
    """(Doubled rank sum, number of ways) of every way to deal ``size`` of the outcomes to the first group."""
    sums: dict[tuple[int, int], int] = {(0, 0): 1}
    for count, rank in zip(together, ranks, strict=True):
        dealt: dict[tuple[int, int], int] = {}
        for (taken, rank_sum), ways in sums.items():
            for more in range(min(count, size - taken) + 1):
                key = (taken + more, rank_sum + more * rank)
                dealt[key] = dealt.get(key, 0) + ways * comb(count, more)
        sums = dealt
    return ((rank_sum, ways) for (taken, rank_sum), ways in sums.items() if taken == size)

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark import significance

OUTCOMES = st.lists(st.integers(0, 3), min_size=1, max_size=5)


def _counts(outcomes: list[int]) -> dict[int, int]:
    return {outcome: outcomes.count(outcome) for outcome in outcomes}


def _by_hand(before: list[int], after: list[int]) -> float:
    """The same p, dealing every single outcome out."""
    every = before + after
    ranks = [sum(other < one for other in every) + (sum(other == one for other in every) + 1) / 2 for one in every]
    middle = len(before) * (len(every) + 1) / 2
    seen = abs(sum(ranks[: len(before)]) - middle)
    deals = [abs(sum(ranks[index] for index in deal) - middle) for deal in combinations(range(len(every)), len(before))]
    return sum(deal >= seen for deal in deals) / len(deals)


@given(OUTCOMES, OUTCOMES)
def test_the_exact_p_is_what_dealing_out_every_outcome_gives(before: list[int], after: list[int]) -> None:
    assert significance.exact(_counts(before), _counts(after)) == pytest.approx(_by_hand(before, after))


@given(OUTCOMES, OUTCOMES)
def test_the_exact_p_does_not_depend_on_the_direction(before: list[int], after: list[int]) -> None:
    there, back = _counts(before), _counts(after)
    assert significance.exact(there, back) == significance.exact(back, there)
    assert significance.shift(there, back) == -significance.shift(back, there)


def test_two_groups_of_equal_size_and_two_outcomes_give_the_p_of_fisher() -> None:
    """The tea-tasting table: three of four told right, p = 34/70."""
    assert significance.exact({0: 3, 1: 1}, {0: 1, 1: 3}) == pytest.approx(34 / 70)


def test_four_repeats_each_are_the_fewest_that_can_tell() -> None:
    assert significance.least(3, 3) == pytest.approx(0.1)
    assert significance.least(4, 4) == pytest.approx(2 / 70)
    assert significance.least(1, 10) > significance.ALPHA


def test_an_empty_group_tells_nothing() -> None:
    assert significance.exact({}, {0: 3}) == 1.0
    assert significance.exact({0: 3}, {}) == 1.0


def test_holm_multiplies_the_smallest_by_all_the_next_by_one_less() -> None:
    assert significance.holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert significance.holm([]) == ()


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_keeps_the_order_and_never_lowers_a_p(values: list[float]) -> None:
    adjusted = significance.holm(values)
    assert all(value <= new <= 1 for value, new in zip(values, adjusted, strict=True))
    assert all(adjusted[i] <= adjusted[j] for i in range(len(values)) for j in range(len(values)) if values[i] < values[j])

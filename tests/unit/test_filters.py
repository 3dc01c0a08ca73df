"""Filters: every coordinate, globs, and what is answered to a name that nothing has."""

from __future__ import annotations

import pytest

from benchmark.boundaries import Boundary
from benchmark.cells import Cell
from benchmark.errors import UsageError
from benchmark.filters import Filters, coordinates, select

CELLS = tuple(
    map(
        Cell.parse,
        [
            "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1",
            "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1",
            "charge-twice.find-only.after-commit.-.silence.http.2026-07-28.first-every.-@1",
            "broadcast.find-only.after-commit.-.error.http.2025-11-25.first~3-once.-@2",
            "three-resources.find-only.agent-restart.delivered.-.stdio.2026-07-28.middle-once.-@1",
        ],
    )
)
KNOWN = {
    "workload": ["charge-card", "charge-twice", "broadcast", "three-resources", "transfer"],
    "adapter": ["client-token", "find-only"],
}


def chosen(**patterns: tuple[str, ...]) -> list[int]:
    return [CELLS.index(cell) for cell in select(CELLS, Filters(**patterns), KNOWN)]


def test_without_filters_every_cell_passes_in_order() -> None:
    assert select(CELLS, Filters()) == CELLS


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        ({"workload": ("charge-*",)}, [0, 1, 2]),
        ({"workload": ("charge-card", "broadcast")}, [0, 1, 3]),
        ({"adapter": ("find-only",)}, [2, 3, 4]),
        ({"boundary": ("after-*",)}, [1, 2, 3]),
        ({"boundary": ("3",)}, [1, 2, 3]),
        ({"boundary": ("0", "agent-restart")}, [0, 4]),
        ({"variant": ("delivered",)}, [4]),
        ({"manifestation": ("reset", "err*")}, [1, 3]),
        ({"manifestation": ("-",)}, [0, 4]),
        ({"transport": ("http",)}, [2, 3]),
        ({"protocol": ("2026-*",)}, [2, 4]),
        ({"strike": ("*-every",)}, [2]),
        ({"strike": ("first/3-once",)}, [3]),
        ({"strike": ("first~3-once",)}, [3]),
        ({"persona": ("-",)}, [0, 1, 2, 3, 4]),
        ({"repeat": ("2",)}, [3]),
        ({"cell": ("*.after-commit.*",)}, [1, 2, 3]),
        ({"cell": (CELLS[3].name,)}, [3]),
        ({"boundary": ("after-commit",), "transport": ("stdio",)}, [1]),
    ],
    ids=str,
)
def test_each_coordinate_can_be_filtered_by_name_and_by_glob(patterns: dict[str, tuple[str, ...]], kept: list[int]) -> None:
    assert chosen(**patterns) == kept


def test_a_known_name_that_no_cell_has_selects_nothing_and_is_no_error() -> None:
    assert chosen(workload=("transfer",)) == []
    assert chosen(boundary=("token-expired",)) == []


@pytest.mark.parametrize(
    ("coordinate", "pattern", "remedy"),
    [
        ("workload", "charge-crad", "did you mean 'charge-card'?"),
        ("adapter", "find-onyl", "did you mean 'find-only'?"),
        ("boundary", "after-comit", "did you mean 'after-commit'?"),
        ("boundary", "99", "known: after-commit, after-timeout"),
        ("variant", "deliverd", "did you mean 'delivered'?"),
        ("manifestation", "rest", "did you mean 'reset'?"),
        ("transport", "pigeon", "known: http, stdio"),
        ("protocol", "2025-11-26", "did you mean '2025-11-25'?"),
        ("strike", "first-onze", "did you mean 'first-once'?"),
        ("repeat", "9", "known: 1, 2"),
        ("workload", "zz*", "known: broadcast"),
    ],
)
def test_an_unknown_name_is_answered_with_the_closest_or_the_known_ones(coordinate: str, pattern: str, remedy: str) -> None:
    with pytest.raises(UsageError) as caught:
        chosen(**{coordinate: (pattern,)})
    assert str(caught.value).startswith(f"--{coordinate} {pattern}: there is no such {coordinate}; {remedy}")


def test_a_whole_name_is_run_even_if_the_plan_lacks_the_cell() -> None:
    other = "charge-card.find-only.after-commit.-.reset.http.2026-07-28.first-every.-@4"
    assert select(CELLS, Filters(cell=(other,)), KNOWN) == (Cell.parse(other),)


@pytest.mark.parametrize(
    "name",
    [
        "charge-crad.client-token.none.-.-.stdio.2025-11-25.first-once.-@1",
        "charge-card.client-token.nowhere.-.-.stdio.2025-11-25.first-once.-@1",
    ],
)
def test_a_whole_name_of_nothing_known_is_answered_with_the_closest_cell(name: str) -> None:
    with pytest.raises(UsageError, match=r"did you mean 'charge-card\.client-token\.none"):
        select(CELLS, Filters(cell=(name,)), KNOWN)


def test_a_cell_has_every_coordinate_that_can_be_filtered() -> None:
    assert set(Filters.__dataclass_fields__) == set(coordinates(CELLS[0]))


def test_boundaries_are_known_without_a_plan() -> None:
    assert select((), Filters(boundary=tuple(map(str, Boundary)))) == ()

from __future__ import annotations

from benchmark.exits import Exit


def test_the_documented_codes_are_the_codes() -> None:
    assert {code.name: int(code) for code in Exit} == {
        "COMPLETED": 0,
        "REFUSED": 1,
        "USAGE": 2,
        "HARNESS": 3,
        "UNJUDGED": 4,
        "NOTHING_RAN": 5,
        "INTERRUPTED": 130,
    }


def test_every_code_says_what_it_means() -> None:
    assert all(code.meaning for code in Exit)

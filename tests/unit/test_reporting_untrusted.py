from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from benchmark.reporting.untrusted import HARMFUL, fields, plain, value


@given(st.text(alphabet=st.characters()))
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert not {unicodedata.category(character) for character in plain(text, 1000)} & HARMFUL


@given(st.recursive(st.text() | st.none(), lambda inner: st.dictionaries(st.text(), inner, max_size=3), max_leaves=4))
def test_json_is_made_harmless_too(data: object) -> None:
    assert not {unicodedata.category(character) for character in value(data)} & HARMFUL


def test_escape_sequences_newlines_and_reversals_are_spelt_out() -> None:
    assert plain("\x1b[31mred\r\n\u202egnp") == "\\x1b[31mred\\r\\n\\u202egnp"


def test_long_text_is_cut_and_says_by_how_much() -> None:
    assert plain("x" * 100, 10) == "xxxxxxxxxx… (90 more)"


def test_ordinary_text_of_any_script_stays() -> None:
    assert plain("Zahlung über 100 € · 支払い ✓") == "Zahlung über 100 € · 支払い ✓"


def test_fields_are_named() -> None:
    assert fields({"order": "1001", "amount": 10000}) == 'order="1001" amount=10000'

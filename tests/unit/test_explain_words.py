"""Every word of the results has one text: what it is, what establishes it, what it does not mean."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import benchmark
from benchmark import glossary
from benchmark.boundaries import SHAPES, TABLE, VARIANTS, Boundary, Manifestation, Variant
from benchmark.entries import Says
from benchmark.errors import UsageError
from benchmark.expectations import SHOWN
from benchmark.glossary import Kind
from benchmark.results import Blame, CellResult, Verdict
from benchmark.scoring.claims import Part


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Kind.BOUNDARY, Boundary),
        (Kind.VARIANT, set(Variant) - {Variant.NONE}),
        (Kind.MANIFESTATION, set(Manifestation) - {Manifestation.NONE}),
        (Kind.VERDICT, Verdict),
        (Kind.CLAIM, Part),
        (Kind.BLAME, Blame),
        (Kind.PROMISE, set(get_args(Says))),
    ],
)
def test_every_word_of_a_closed_set_is_explained(kind: Kind, words: set[str]) -> None:
    assert set(glossary.words(kind)) == set(words)


def test_whatever_a_gate_may_name_is_explained() -> None:
    assert all(glossary.lookup(name) for name in SHOWN)


def test_fields_that_are_explained_are_fields_of_a_result() -> None:
    assert set(glossary.words(Kind.FIELD)) <= set(CellResult.model_fields)


def test_boundaries_variants_and_manifestations_are_told_from_their_table() -> None:
    for row in TABLE.values():
        (entry,) = (one for one in glossary.lookup(row.boundary) if one.kind is Kind.BOUNDARY)
        assert (entry.what, entry.proof, entry.not_meant) == (row.does, row.order, row.not_meant)
        assert entry.not_meant
    assert set(VARIANTS) == set(Variant) - {Variant.NONE}
    assert set(SHAPES) == set(Manifestation) - {Manifestation.NONE}


def test_no_text_is_written_twice() -> None:
    """A word of several kinds has a text for each, and no two words share theirs."""
    told = [(entry.kind, entry.word, entry.what) for found in glossary.entries().values() for entry in found]
    texts = [text for _, _, text in set(told)]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("word", ["false_dedup", "false-dedup", "FALSE_DEDUP", " false_dedup "])
def test_a_word_is_found_however_it_is_written(word: str) -> None:
    assert [entry.word for entry in glossary.lookup(word)] == ["false_dedup"]


def test_a_boundary_is_found_by_its_number() -> None:
    assert [glossary.lookup(str(row.number))[0].word for row in TABLE.values()] == [str(boundary) for boundary in TABLE]


def test_a_word_of_several_meanings_has_them_all() -> None:
    assert [entry.kind for entry in glossary.lookup("unresolved")] == [Kind.VERDICT, Kind.METRIC, Kind.CLAIM]


@pytest.mark.parametrize(
    ("word", "remedy"),
    [("after-comit", "did you mean 'after-commit'?"), ("fales_dedup", "did you mean 'false-dedup'?"), ("xyz", "lists the")],
)
def test_an_unknown_word_is_answered_with_the_closest(word: str, remedy: str) -> None:
    with pytest.raises(UsageError, match=re.escape(remedy)):
        glossary.lookup(word)


def test_every_reason_that_the_engine_gives_while_a_cell_runs_is_explained() -> None:
    source = (Path(benchmark.__file__).parent / "fault.py").read_text("utf-8")
    given = set(re.findall(r'_inapplicable\("([^"]+)"\)', source))
    assert given
    assert given <= set(glossary.REASONS)

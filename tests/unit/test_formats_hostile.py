"""What a runtime, a tool or a file may contain stays text in every format."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Sequence

import pandas as pd  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from junitparser import JUnitXml
from markdown_it import MarkdownIt

from benchmark.compare import compare
from benchmark.comparison import Entry
from benchmark.counting import summarise
from benchmark.reporting import comparison, exported, github, junit, markdown, tables
from benchmark.reporting.console import console
from benchmark.results import CellResult, Verdict
from benchmark.summary import Summary
from tests.unit.runs_generated import HOSTILE, NAMES, TEXT, header, one_of, results

CONVICTED = (1, 0, 0, 0, 0, 0)
CLEAN = (0, 0, 0, 0, 0, 0)


def run_of(text: str) -> tuple[Summary, tuple[CellResult, ...]]:
    """A run that says this text wherever it can: convicted, unjudged, failed, and flaky cells."""
    some = (
        one_of(NAMES[0], CONVICTED, None, text),
        one_of(NAMES[1], CLEAN, None, text),
        one_of(NAMES[2], CLEAN, Verdict.UNTESTABLE, text),
        one_of(NAMES[4], CLEAN, Verdict.HARNESS_ERROR, text),
        one_of(NAMES[6], CONVICTED, None, text),
    )
    return summarise(header(some, text), some, notes=(text,)), some


def compared(text: str, some: Sequence[CellResult]) -> Entry:
    return Entry(text, header(some, text, settings={text: text}), tuple(some))


def harmless(text: str) -> bool:
    """No character that a terminal, an editor or an XML parser could obey."""
    return all(character == "\n" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Cn") for character in text)


@pytest.mark.parametrize("text", HOSTILE)
def test_junit_stays_well_formed_and_holds_as_many_cases(text: str) -> None:
    run, some = run_of(text)
    made = junit.xml(run, some)
    assert harmless(made.decode())
    assert JUnitXml.fromstring(made).tests == len(some)
    assert b"<failure/>" not in made
    assert len(made) < 100_000


@pytest.mark.parametrize("text", HOSTILE)
def test_github_reads_no_command_that_we_did_not_write(text: str) -> None:
    run, some = run_of(text)
    lines = github.commands(run, some).removesuffix("\n").split("\n")
    assert len(lines) == 1 + len(run.examples) + 2, "the answer, the kinds, the harness error, the damaged file"
    for line in lines:
        assert re.match(r"::(notice|warning|error) title=[^,:]*::", line)
        assert harmless(line)
        assert "%0A::error" not in line.replace("%250A", "")


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_renders_no_link_image_script_or_mention_of_theirs(text: str) -> None:
    run, some = run_of(text)
    entries = [compared("a" + text, some), compared("b" + text, some[::-1][:3])]
    for made in (markdown.run(run), markdown.comparison(compare(entries))):
        assert harmless(made)
        assert len(made) < 65_536
        html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(made)
        outside = re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
        assert set(re.findall(r"</?([a-z0-9]+)", outside)) <= {
            *(
                "h3",
                "p",
                "table",
                "thead",
                "tbody",
                "tr",
                "th",
                "td",
                "strong",
                "details",
                "summary",
                "ul",
                "li",
                "br",
                "sub",
            )
        }
        assert outside.count("<details>") == outside.count("</details>")
        assert "@everyone" not in outside


@pytest.mark.parametrize("text", HOSTILE)
def test_a_spreadsheet_gets_no_formula_and_as_many_rows(text: str) -> None:
    run, some = run_of(text)
    made = tables.csv(run, some)
    assert harmless(made.decode())
    frame = pd.read_csv(io.BytesIO(made), dtype=str, keep_default_na=False)
    assert len(frame) == len(some)
    cells = {value for column in frame for value in frame[column]}
    assert not [value for value in cells if value.startswith(("=", "+", "@", "-")) and value != "-"]


@pytest.mark.parametrize("text", HOSTILE)
def test_parquet_and_json_take_any_text(text: str) -> None:
    run, some = run_of(text)
    assert pyarrow.parquet.read_table(io.BytesIO(tables.parquet(run, some))).num_rows == len(some)
    assert json.loads(exported.text(run, some))["cells"][0]["reason"] == text


@pytest.mark.parametrize("text", HOSTILE)
def test_the_comparison_on_the_console_obeys_nobody(text: str) -> None:
    _, some = run_of(text)
    entries = [compared("a" + text, some), compared("b" + text, some[::-1][:3])]
    stream = io.StringIO()
    comparison.tell(console(stream), compare(entries), ["a", "b"])
    assert harmless(stream.getvalue())


@settings(max_examples=30)
@given(some=results(TEXT))
def test_no_generated_text_breaks_a_format(some: tuple[CellResult, ...]) -> None:
    run = summarise(header(some), some)
    assert JUnitXml.fromstring(junit.xml(run, some)).tests == len(some)
    assert len(pd.read_csv(io.BytesIO(tables.csv(run, some)))) == len(some)
    assert all(line.startswith("::") for line in github.commands(run, some).removesuffix("\n").split("\n"))
    assert harmless(markdown.run(run))
    assert len(json.loads(exported.text(run, some))["cells"]) == len(some)

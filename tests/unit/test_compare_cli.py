from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from benchmark.cli import run as bench
from benchmark.exits import Exit
from benchmark.history import History
from benchmark.results import CellResult, RunHeader, Verdict
from benchmark.store import Store
from tests.unit.runs_generated import HOSTILE

Make = Callable[..., CellResult]
MakeHistory = Callable[..., History]
CONTROL = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"
STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"


class Lab:
    """Makes runs below ``results/`` of a folder of its own."""

    def __init__(self, header: RunHeader, result: Make, history: MakeHistory) -> None:
        self.header, self.result, self.history = header, result, history

    def run(self, name: str, *results: CellResult, **head: object) -> Path:
        header = self.header.model_copy(update={"run": name, "runtime": name, **head})
        with Store.create(Path("results") / name, header) as store:
            for one in results:
                store.append(one, self.history(one.cell))
        return store.folder

    def wrong(self, **more: object) -> CellResult:
        fields = {"reason": "1 duplicate effect", "extra": 1, "duplicates": 1, "declared": 1, "observed": 2, **more}
        return self.result(STRUCK, verdict=Verdict.VIOLATED, **fields)

    def right(self, cell: str = STRUCK) -> CellResult:
        return self.result(cell, reason="exactly the declared effects, and claimed so", declared=1, observed=1)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: RunHeader, result: Make, history: MakeHistory) -> Lab:
    monkeypatch.chdir(tmp_path)
    return Lab(header, result, history)


def test_a_comparison_tells_marks_cells_and_where_to_look(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.run("a", lab.wrong(), lab.right(CONTROL))
    lab.run("b", lab.right(), lab.right(CONTROL))
    assert bench(["compare", "a", "b"]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert "a → b: 2 cells judged in both" in out
    assert f"✔ fixed    {STRUCK.rpartition('@')[0]}" in out
    assert "violated → correct; extra 1 → 0" in out
    assert f"bench compare a b --cell {STRUCK}" in out
    assert "Pages: reports/compare-a-b/index.html" in out


def test_both_histories_of_a_cell_stand_side_by_side(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.run("a", lab.wrong())
    lab.run("b", lab.right())
    for name in (STRUCK, STRUCK.rpartition("@")[0]):
        assert bench(["compare", "a", "b", "--cell", name]) == Exit.COMPLETED
        out = capsys.readouterr().out
        assert out.count("THE FAULT STRIKES") == 2
        assert re.search(r"verdict\s+violated\s+correct", out)
    assert bench(["compare", "a", "b", "--cell", STRUCK.replace("reset", "rest")]) == Exit.USAGE
    assert f"did you mean '{STRUCK}'?" in capsys.readouterr().err


@pytest.mark.parametrize(("gate", "code"), [("worse", 1), ("broke", 1), ("changed", 1)])
def test_fail_on_refuses_what_got_worse(lab: Lab, capsys: pytest.CaptureFixture[str], gate: str, code: int) -> None:
    lab.run("a", lab.right())
    lab.run("b", lab.wrong())
    assert bench(["compare", "a", "b", "--json"]) == Exit.COMPLETED, "gating is explicit"
    assert bench(["compare", "a", "b", "--json", "--fail-on", gate]) == code
    assert f"--fail-on {gate}: 1 cell in b, such as {STRUCK.rpartition('@')[0]}" in capsys.readouterr().err
    assert bench(["compare", "b", "a", "--json", "--fail-on", gate]) == Exit.COMPLETED


def test_fail_on_looks_at_truthful_adapters_and_at_trades_only_if_asked(lab: Lab) -> None:
    lab.run("a", lab.right().model_copy(update={"truthful": False}))
    lab.run("b", lab.wrong(truthful=False))
    assert bench(["compare", "a", "b", "--json", "--fail-on", "changed"]) == Exit.COMPLETED
    lab.run("c", lab.wrong())
    lab.run("d", lab.result(STRUCK, verdict=Verdict.INCOMPLETE, missing=1))
    assert bench(["compare", "c", "d", "--json", "--fail-on", "worse"]) == Exit.COMPLETED
    assert bench(["compare", "c", "d", "--json", "--fail-on", "changed"]) == Exit.REFUSED


def test_no_gate_is_passed_by_comparing_nothing(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.run("a", lab.right())
    lab.run("b", lab.right(), suite_hash="other")
    assert bench(["compare", "a", "b", "--json"]) == Exit.COMPLETED
    assert bench(["compare", "a", "b", "--json", "--fail-on", "worse"]) == Exit.UNJUDGED
    assert "nothing was compared" in capsys.readouterr().err
    assert bench(["compare", "a", "b", "--json", "--fail-on", "worse", "--across-suites"]) == Exit.COMPLETED


def test_a_damaged_line_is_named_and_the_rest_is_compared(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.run("a", lab.wrong(), lab.right(CONTROL))
    folder = lab.run("b", lab.right(CONTROL))
    (folder / "cells.jsonl").write_bytes(b'{"cell": 7}\n' + (folder / "cells.jsonl").read_bytes())
    assert bench(["compare", "a", "b", "--json"]) == Exit.USAGE
    told = capsys.readouterr()
    assert "bench: results/b/cells.jsonl:1: " in told.err
    assert json.loads(told.out)["pairs"][0]["compared"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a"], "a comparison needs two runs: bench compare A B"),
        (["a", "nothing"], "there is no run 'nothing'"),
        (["a", "a", "--fail-on", "worst"], "did you mean 'worse'?"),
        (["a", "a", "--out", "results"], "results: holds something else; choose another --out"),
    ],
)
def test_a_mistake_is_one_line(lab: Lab, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    lab.run("a", lab.right())
    assert bench(["compare", *arguments]) == Exit.USAGE
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_two_runs_of_one_name_are_told_apart(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.run("a", lab.right())
    assert bench(["compare", "a", "a", "--json"]) == Exit.COMPLETED
    assert [run["label"] for run in json.loads(capsys.readouterr().out)["runs"]] == ["a #1", "a #2"]


def test_markdown_is_for_a_comment_and_the_job_summary_is_written_by_itself(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lab.run("a", lab.right())
    lab.run("b", lab.wrong())
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert bench(["compare", "a", "b", "--markdown"]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert out.startswith("<!-- declared-effect-bench -->\n")
    assert f"✖ **broke** `{STRUCK.rpartition('@')[0]}`" in out
    assert (tmp_path / "summary.md").read_text() == out + "\n"
    assert not Path("reports").exists()


class _Page(HTMLParser):
    """Elements, texts and addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_pages_link_to_each_other_and_to_nothing_else(lab: Lab) -> None:
    lab.run("a", lab.wrong(), lab.right(CONTROL))
    lab.run("b", lab.right(), lab.right(CONTROL))
    assert bench(["compare", "a", "b"]) == Exit.COMPLETED
    folder = Path("reports/compare-a-b")
    pages = [folder / "index.html", *folder.glob("cells/*.html")]
    assert len(pages) == 2
    for page in pages:
        for link in _Page(page.read_text()).links:
            target = link.partition("#")[0]
            assert link == "data:," or not target or (page.parent / target).is_file(), link
    assert json.loads((folder / "comparison.json").read_text())["pairs"][0]["compared"] == 2


@pytest.mark.parametrize("text", [text.replace("\ud800", "?") for text in HOSTILE])
def test_hostile_texts_stay_text_on_the_pages(lab: Lab, text: str) -> None:
    lab.run(
        "a",
        lab.wrong(reason=text, evidence=text, seen_as=text),
        title=text,
        versions={text[:50]: text},
        settings={"s": text},
    )
    lab.run("b", lab.right())
    assert bench(["compare", "a", "b"]) == Exit.COMPLETED
    for page in Path("reports/compare-a-b").rglob("*.html"):
        told = page.read_text()
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e\u200b]", told)
        assert _Page(told).tags.count("script") == 2, "ours"
        assert len(told) < 200_000


def test_a_history_that_cannot_be_read_costs_its_story_only(lab: Lab) -> None:
    folder = lab.run("a", lab.wrong())
    lab.run("b", lab.right())
    (folder / "history" / f"{STRUCK}.jsonl").write_text("{}\n")
    assert bench(["compare", "a", "b"]) == Exit.COMPLETED
    (page,) = Path("reports/compare-a-b/cells").iterdir()
    assert f"{STRUCK}.jsonl:1" in page.read_text()

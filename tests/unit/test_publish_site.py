from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from benchmark import published, trophies
from benchmark.cli import run as bench
from benchmark.counting import summarise
from benchmark.errors import UsageError
from benchmark.exits import Exit
from benchmark.published import Published, compact
from benchmark.reporting.html.words import FIGURES
from benchmark.results import CellResult
from benchmark.summary import Summary
from tests.unit.runs_generated import HOSTILE, NAMES, header, one_of, results

CLEAN, EXTRA, MISSING = (0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0)
SITE = Path("reports/site")


def publish(runtime: str, some: tuple[CellResult, ...], text: str = "", **head: Any) -> Summary:
    """A published result of these cells below ``results/published``."""
    mine = tuple(result.model_copy(update={"runtime": runtime}) for result in some)
    known = header(mine, text).model_copy(update={"runtime": runtime, **head})
    run = summarise(known, mine)
    kept = Published(
        published="now",
        answer=run.answer,
        verdicts=run.verdicts,
        header=run.header,
        cells=tuple(compact(one) for one in mine),
    )
    path = Path("results/published") / published.place(known)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(kept.text())
    return run


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Tables(HTMLParser):
    """The tables of a page as rows of texts, and its links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self._open = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            self.tables[-1][-1][-1] += data


def page(name: str) -> Tables:
    return Tables((SITE / name).read_text())


def test_the_site_links_to_itself_only(capsys: pytest.CaptureFixture[str]) -> None:
    publish("alpha", tuple(one_of(name, EXTRA, None) for name in NAMES))
    publish("beta", tuple(one_of(name, CLEAN, None) for name in NAMES))
    assert bench(["site"]) == Exit.COMPLETED
    assert capsys.readouterr().out == "reports/site/index.html\n"
    pages = list(SITE.rglob("*.html"))
    assert len(pages) == 5
    for one in pages:
        for link in Tables(one.read_text()).links:
            target = link.partition("#")[0]
            assert link == "data:," or not target or (one.parent / target).is_file(), link


def test_the_league_counts_each_runtimes_own_cells_and_those_that_all_judged() -> None:
    publish("alpha", tuple(one_of(name, EXTRA, None) for name in NAMES))
    publish("beta", tuple(one_of(name, CLEAN, None) for name in NAMES if "transfer" not in name))
    assert bench(["site"]) == Exit.COMPLETED
    own, common = page("index.html").tables[:2]
    assert own[0][0] == "runtime"
    assert [row[-1] for row in own[1:]] == ["6/6", "0/3"]
    assert [row[-1] for row in common[1:]] == ["3/3", "0/3"]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some=results())
def test_a_runtimes_page_tells_the_figures_of_its_summary(some: tuple[CellResult, ...]) -> None:
    run = publish("alpha", some)
    assert bench(["site"]) == Exit.COMPLETED
    tables = [table for table in page("runtimes/alpha.html").tables if table[0][0] == "boundary"]
    assert len(tables) == len(run.sides)
    for side, table in zip(run.sides, tables, strict=True):
        counts = [row.counts for row in side.boundaries] + [side.whole]
        told = [(row[2], row[3], row[4:]) for row in table[1:]]
        assert told == [
            (
                f"{one.judged} of {one.cells}",
                str(one.stimuli),
                [str(one.figure(figure)) if one.judged else "n/a" for figure in FIGURES],
            )
            for one in counts
        ]


def test_the_history_of_a_runtime_tells_what_changed_from_version_to_version() -> None:
    def of(day: str, figures: tuple[int, ...], **more: Any) -> None:
        publish("alpha", (one_of(NAMES[2], figures, None),), started=f"{day}T00:00:00Z", **more)

    of("2026-01-01", EXTRA)
    of("2026-02-01", CLEAN)
    of("2026-03-01", MISSING, suite_hash="t" * 64)
    assert bench(["site"]) == Exit.COMPLETED
    (told,) = [table for table in page("runtimes/alpha.html").tables if table[0][0] == "day"]
    assert [(row[0], row[-1]) for row in told[1:]] == [
        ("2026-03-01", "Another suite than before: not comparable."),
        ("2026-02-01", "Of 1 cell judged in both, 1 is fixed."),
        ("2026-01-01", "the first"),
    ]
    listed = json.loads((SITE / "site.json").read_text())["alpha"]
    assert [(SITE / one["file"]).is_file() for one in listed] == [True] * 3


def test_a_result_of_an_older_suite_is_marked_and_left_out_of_the_common_cells() -> None:
    cells = tuple(one_of(name, CLEAN, None) for name in NAMES)
    publish("alpha", cells, suite_hash="t" * 64)
    publish("beta", cells, started="2026-02-01T00:00:00Z")
    publish("gamma", cells, started="2026-02-01T00:00:00Z")
    assert bench(["site"]) == Exit.COMPLETED
    own, common = page("index.html").tables[:2]
    assert [row[0] for row in own[1:]] == ["alpha older suite", "beta", "gamma"]
    assert [row[0] for row in common[1:]] == ["beta", "gamma"]


def test_a_damaged_result_is_named_and_the_rest_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    publish("alpha", (one_of(NAMES[0], CLEAN, None),))
    broken = Path("results/published/beta/2026-01-01-x.json")
    broken.parent.mkdir()
    broken.write_text("{\n")
    assert bench(["site"]) == Exit.USAGE
    assert f"bench: {broken}:2: not a JSON object" in capsys.readouterr().err
    assert f"{broken}:2" in (SITE / "index.html").read_text()
    assert (SITE / "runtimes/alpha.html").is_file()


def test_nothing_published_is_a_mistake_of_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["site"]) == Exit.USAGE
    assert capsys.readouterr().err == "bench: results/published: holds no published results; bench publish RUN makes one\n"


def test_trophies_stand_on_their_page_and_at_their_runtime() -> None:
    publish("alpha", (one_of(NAMES[0], CLEAN, None),))
    assert "None yet." in _built("trophies.html")
    Path("results/published/trophies.toml").write_text(
        '[[trophy]]\ntitle = "Charges twice"\nruntime = "alpha"\nfound = "2026-01-31"\nstatus = "confirmed"\n'
        'link = "https://example.invalid/1"\n'
    )
    for name in ("trophies.html", "runtimes/alpha.html", "index.html"):
        assert "Charges twice" in _built(name)
    assert 'href="https://example.invalid/1"' in _built("trophies.html")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[trophy]", "trophies.toml:1: "),
        ('[[trophy]]\ntitle = "x"\n', "trophy.0.runtime: Field required"),
        (
            '[[trophy]]\ntitle="x"\nruntime="a"\nfound="2026-01-31"\nstatus="fixed"\nlink="javascript:alert(1)"\n',
            "trophy.0.link: ",
        ),
    ],
)
def test_a_wrong_trophy_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "trophies.toml").write_text(text)
    with pytest.raises(UsageError, match=re.escape(message)):
        trophies.read(tmp_path)


@pytest.mark.parametrize("text", [text.replace("\ud800", "?") for text in HOSTILE])
def test_hostile_texts_stay_text_on_the_site(text: str) -> None:
    publish("alpha", (one_of(NAMES[0], EXTRA, None, text),), text, settings={text[:50]: text})
    assert bench(["site"]) == Exit.COMPLETED
    for one in SITE.rglob("*.html"):
        told = one.read_text()
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e\u200b]", told)
        assert "<script>alert" not in told
        assert len(told) < 100_000


def _built(name: str) -> str:
    assert bench(["site"]) == Exit.COMPLETED
    return (SITE / name).read_text()

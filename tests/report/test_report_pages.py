"""What a report consists of: offline, small, linked through, and harmless whatever a runtime wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from benchmark import synthetic
from benchmark.boundaries import Boundary
from benchmark.effects import Effect
from benchmark.entries import Promise
from benchmark.errors import UsageError
from benchmark.history import Event, History, Kind
from benchmark.reporting.html import pages as page_rules
from benchmark.reporting.html.pages import Pages, file_name
from benchmark.reporting.html.report import write, write_cells, write_several
from benchmark.reporting.html.words import FIGURES, PLAINLY, VERDICTS
from benchmark.results import CellResult, Figure, RunHeader, Verdict
from benchmark.salvage import Salvage
from benchmark.store import Store
from tests.report.pages_read import Page, cells, read
from tests.unit.runs_generated import HOSTILE

Make = Callable[..., CellResult]
MakeHistory = Callable[..., History]
NAME = "charge-card.client-token.{}.-.{}.stdio.2025-11-25.first-once.-@1"
STRUCK = NAME.format("after-commit", "reset")
CONTROL = NAME.format("none", "-")


@pytest.fixture
def run(tmp_path: Path, header: RunHeader, result: Make, history: MakeHistory) -> Path:
    """A control, a duplicate with its history, and a cell that could not be judged."""
    folder = tmp_path / "run"
    with Store.create(folder, header) as store:
        store.append(result(CONTROL), history(CONTROL))
        store.append(
            result(
                verdict=Verdict.VIOLATED,
                extra=1,
                duplicates=1,
                blame="runtime",
                reason="1 duplicate effect",
                evidence="commit ch_1 (#8) seen by the oracle (#10) before the reset (#11)",
                declared=1,
                observed=2,
                funnel={"intents": 1, "calls": 2, "upstream_requests": 2, "effects": 2},
            ),
            history(),
        )
        store.append(result(NAME.format("token-expired", "-"), Verdict.NOT_APPLICABLE, reason="charge has no key"), None)
    return folder


def written(run: Path, pages: Pages = Pages.AUTO) -> Path:
    return write(Salvage(run), run.parent / "report", pages).index.parent


def every_page(report: Path) -> list[Path]:
    return [report / "index.html", *sorted((report / "cells").glob("*.html"))]


def test_a_cells_page_shows_the_surplus_the_proof_the_claim_and_the_command(run: Path) -> None:
    page = read(written(run) / "cells" / file_name(STRUCK))
    text = " ".join(page.text.split())
    slots = page.tables[0].rows[1]
    assert "ch_1" in slots[2]
    assert "ch_2" in slots[2]
    assert [slots[1].strip(), slots[3].strip(), slots[4].strip()] == ["1", "2", "1 extra"]
    assert "charge ch_2 — one too many" in text
    assert "THE FAULT STRIKES: reset" in text
    assert "committed ch_2" in text
    assert "multiplied first: blame runtime" in text
    assert f"bench run --runtime blind-retry --cell {STRUCK}" in text
    assert {"#e8", "#e10", "#e11"} <= set(page.links)


def test_what_is_linked_exists(run: Path) -> None:
    report = written(run)
    for path in every_page(report):
        page = read(path)
        ids = set(path.read_text(encoding="utf-8").split('id="')[1:])
        known = {one.split('"')[0] for one in ids}
        for link in page.links:
            place, _, fragment = link.partition("#")
            assert not place or (path.parent / unquote(place)).is_file(), link
            assert place or "=" in fragment or fragment in known, f"{path.name}: {link}"


def test_every_example_leads_to_a_page(run: Path) -> None:
    page = read(written(run) / "index.html")
    assert f"cells/{file_name(STRUCK)}" in [unquote(link) for link in page.links]


def test_pages_fetch_nothing_from_anywhere(run: Path) -> None:
    report = written(run)
    for path in every_page(report):
        page = read(path)
        assert page.handlers == []
        for resource in page.resources:
            assert resource == "data:," or resource.startswith("#") or (path.parent / resource).is_file(), resource
        assert all(script.endswith(".js") for script in page.scripts)
    for asset in (report / "assets").iterdir():
        told = asset.read_text(encoding="utf-8")
        assert "http:" not in told
        assert "https:" not in told
        assert "fetch(" not in told


def test_the_same_run_gives_the_same_bytes(run: Path) -> None:
    report = written(run)
    before = {path.name: path.read_bytes() for path in every_page(report)}
    again = written(run)
    assert {path.name: path.read_bytes() for path in every_page(again)} == before


def test_an_old_page_does_not_survive_a_new_report(run: Path) -> None:
    report = written(run)
    (report / "cells" / "gone.html").write_text("old")
    written(run)
    assert not (report / "cells" / "gone.html").exists()


def test_a_folder_with_something_else_in_it_is_left_alone(run: Path, tmp_path: Path) -> None:
    place = tmp_path / "mine"
    place.mkdir()
    (place / "thesis.txt").write_text("precious")
    with pytest.raises(UsageError, match="holds something that is no report"):
        write(Salvage(run), place)
    assert [file.name for file in place.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("pages", "expected"),
    [(Pages.ALL, {CONTROL, STRUCK}), (Pages.BAD, {STRUCK}), (Pages.NONE, set()), (Pages.AUTO, {CONTROL, STRUCK})],
)
def test_only_the_wanted_cells_get_a_page_and_the_list_knows_which(run: Path, pages: Pages, expected: set[str]) -> None:
    report = written(run, pages)
    assert {path.name for path in (report / "cells").iterdir()} == {file_name(cell) for cell in expected}
    data = cells(report)
    assert sum(flag >> 1 & 1 for flag in data["columns"]["flags"]) == len(expected)


def test_of_a_large_run_the_examples_have_pages_though_others_have_none(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_rules, "MOST", 0)
    monkeypatch.setattr("benchmark.reporting.html.report.MOST", 0)
    report = written(run)
    assert [path.name for path in (report / "cells").iterdir()] == [file_name(STRUCK)]
    assert cells(report)["late"] == [STRUCK]


def test_one_page_can_be_asked_for(run: Path) -> None:
    report = written(run, Pages.NONE)
    assert write_cells(Salvage(run), report, [CONTROL]) == [report / "cells" / file_name(CONTROL)]
    assert read(report / "cells" / file_name(CONTROL)).tables
    with pytest.raises(UsageError, match="did you mean 'charge-card"):
        write_cells(Salvage(run), report, [CONTROL.replace("none", "nine")])


def test_several_runs_have_an_index_and_a_report_each(run: Path, tmp_path: Path, header: RunHeader, result: Make) -> None:
    other = tmp_path / "elsewhere" / "run"
    with Store.create(other, header.model_copy(update={"title": "Another"})) as store:
        store.append(result(CONTROL), None)
    write_several([Salvage(run), Salvage(other)], tmp_path / "both")
    page = read(tmp_path / "both" / "index.html")
    assert [link for link in page.links if "index" in link] == ["run/index.html", "run-2/index.html"]
    assert "Another" in page.text
    assert (tmp_path / "both" / "run-2" / "index.html").is_file()


def test_a_promise_stands_at_the_top_with_its_source_and_whether_it_held(
    tmp_path: Path, header: RunHeader, result: Make
) -> None:
    promise = Promise(boundary="after-commit", says="exactly-once", source="https://docs.invalid/retries")
    folder = tmp_path / "run"
    with Store.create(
        folder, header.model_copy(update={"promises": (promise,), "settings": {"retries": "2 (default: 0)"}})
    ) as store:
        store.append(result(verdict=Verdict.VIOLATED, extra=1, duplicates=1), None)
    text = " ".join(read(written(folder) / "index.html").text.split())
    assert "Its documents promisesomething of 1 boundary: broken at after-commit" in text
    assert "3 after-commitexactly-oncehttps://docs.invalid/retriesbroken in 1 of 1 cells bench run --runtime" in text
    assert "1 that is not its default: retries" in text
    assert "Settings that are not its defaults retries = 2 (default: 0)" in text


def test_the_index_stays_below_a_megabyte_and_is_not_larger_for_more_cells(tmp_path: Path) -> None:
    synthetic.write(tmp_path / "run", 20_000)
    report = written(tmp_path / "run")
    assert (report / "index.html").stat().st_size < 300_000
    assert cells(report)["n"] == 20_000


def test_the_index_stays_small_though_every_cell_has_a_reason_of_its_own(
    tmp_path: Path, header: RunHeader, result: Make
) -> None:
    folder = tmp_path / "run"
    with Store.create(folder, header) as store:
        for repeat in range(1, 400):
            name = STRUCK.replace("@1", f"@{repeat}")
            store.append(result(name, Verdict.HARNESS_ERROR, reason=f"{repeat} " + "x" * 100_000), None)
    report = written(folder)
    assert (report / "index.html").stat().st_size < 300_000
    assert "and 359 more, for rarer reasons" in (report / "index.html").read_text(encoding="utf-8")


@pytest.fixture
def hostile(tmp_path: Path, header: RunHeader, result: Make, history: MakeHistory) -> Path:
    """A run in which everything that a runtime, a tool server or a name can carry is as bad as it gets."""
    folder = tmp_path / "hostile"
    bad = header.model_copy(update={"title": HOSTILE[0], "versions": {HOSTILE[2]: HOSTILE[0]}, "runtime": HOSTILE[0]})
    with Store.create(folder, bad) as store:
        for number, text in enumerate(HOSTILE, 1):
            name = STRUCK.replace("@1", f"@{number}")
            made = history(name)
            store.append(
                result(
                    name, Verdict.VIOLATED, extra=1, duplicates=1, reason=text, evidence=text, seen_as=text, reaction=text
                ),
                made.model_copy(update={"events": tuple(_poisoned(event, text) for event in made.events)}).model_copy(
                    update={"reading": _poisoned_reading(made, text)}
                ),
            )
        odd = result(STRUCK.replace("@1", "@99"), Verdict.VIOLATED, extra=1, strays=1)
        for number, text in enumerate(HOSTILE[:9]):
            store.append(odd.model_copy(update={"cell": f"{text}/../{number}", "workload": text, "adapter": text}), None)
    return folder


def _poisoned(event: Event, text: str) -> Event:
    update: dict[str, object] = {"detail": text} if event.kind is not Kind.CALL else {"arguments": {text: text}, "key": text}
    if event.kind in (Kind.RESULT, Kind.DELIVERED):
        update["result"] = {"result": {"isError": True, "content": [{"type": "text", "text": text}]}}
    if event.kind is Kind.OUTCOME:
        update["result"] = {"contract": 1, "intents": [{"id": text, "status": text, "receipt": text}, text, None]}
    if event.kind is Kind.REQUEST:
        update["upstream"] = {"method": text, "path": text, "body": text}
    return event.model_copy(update=update)


def _poisoned_reading(made: History, text: str) -> object:
    effect = Effect.model_validate(
        {"class": "charge", "receipt": text[:500], "fields": {"order": text}, "reference": text[:500]}
    )
    return made.reading.model_copy(update={"final": (*made.reading.final, effect)})


def test_whatever_a_runtime_wrote_stays_text(hostile: Path) -> None:
    report = written(hostile)
    paths = every_page(report)
    assert len(paths) == 1 + len(HOSTILE)
    for path in paths:
        page = read(path)
        assert all(script.startswith(("../assets/", "assets/", "cells.js")) for script in page.scripts), page.scripts
        assert page.handlers == []
        assert not any(link.strip().lower().startswith("javascript:") for link in page.links)
        assert not set("\x1b\x00\x07\u202e\u200b\ufffe") & set(page.text), path.name
        assert path.stat().st_size < 200_000
    index = read(report / "index.html")
    assert "<script>alert(1)</script>" in index.text
    assert "\\x1b[31mred" in index.text
    script = (report / "cells.js").read_text(encoding="utf-8")
    assert "<" not in script
    assert len(script) < 20_000


def test_odd_names_cannot_leave_the_folder() -> None:
    for name in (*HOSTILE, "../../etc/passwd", "/abs", "", ".", "..", "a" * 5000, "nul\0"):
        found = file_name(name)
        assert "/" not in found
        assert found.endswith(".html")
        assert 5 < len(found) <= 210
        assert not found.startswith(".")


def test_every_word_of_a_closed_set_has_a_sign_and_plain_words() -> None:
    assert set(FIGURES) == set(Figure)
    assert set(VERDICTS) == set(Verdict)
    assert set(PLAINLY) == set(Boundary)
    assert len({sign.sign for sign in FIGURES.values()}) == len(FIGURES)
    assert len({sign.sign for sign in VERDICTS.values()}) == len(VERDICTS)


def test_a_heat_map_says_numbers_not_only_colours(run: Path) -> None:
    page: Page = read(written(run) / "index.html")
    extra = next(table for table in page.tables if table.attributes.get("data-figure") == "extra")
    assert extra.rows[1][0] == "charge-card"
    assert [told.strip() for told in extra.rows[1][1:]] == ["· 0/1", "1/1", "–"]

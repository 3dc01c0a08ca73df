"""A real browser opens comparisons, of two real sweeps and of two large runs, and the site."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmark import synthetic
from tests.report.test_report_browser import Open, browser, opened

__all__ = ["browser", "opened"]

CELL = "charge-card.client-token.agent-restart.in-flight.-.stdio.2025-11-25.first-once.-@1"
WIDTHS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


def bench(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "benchmark", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The comparison of two real sweeps of one cell."""
    folder = tmp_path_factory.mktemp("real")
    for runtime in ("blind-retry", "reference-ledger"):
        bench(folder, "run", "--runtime", runtime, "--cell", CELL, "--out", runtime, "--no-report")
    bench(folder, "compare", "blind-retry", "reference-ledger", "--out", "pages")
    return folder / "pages"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The comparison of two synthetic runs of 3,000 cells, and a site of both."""
    folder = tmp_path_factory.mktemp("large")
    for seed, name in enumerate(("before", "after")):
        synthetic.write(folder / name, 3000, seed)
    bench(folder, "compare", "before", "after", "--out", "pages")
    bench(folder, "publish", "before")
    bench(folder, "site", "--out", "site")
    return folder / "pages"


def fits(page: Page) -> bool:
    """Whether nothing makes the page itself scroll sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.cells
def test_a_newcomer_finds_one_duplicate_charge_sees_why_and_gets_its_replay(real: Path, opened: Open) -> None:
    page = opened(real / "index.html")
    expect(page.locator(".sentence")).to_have_text("Of 1 cell judged in both, 1 is fixed.")
    begin = page.locator(".begin")
    expect(begin).to_contain_text("1 duplicate effect")
    expect(begin.locator(".command code").first).to_have_text(f"bench run --runtime blind-retry --cell {CELL}")
    begin.locator("a.go").click()
    expect(page.locator(".twofold")).to_contain_text("1 declared, 2 observed")
    apart = page.locator(".stories tr.apart", has_text="COMMITTED charge")
    expect(apart).to_have_count(1)
    page.locator("button.only").click()
    expect(page.locator(".stories tbody tr:visible", has_text="THE FAULT STRIKES")).to_have_count(0)
    expect(apart).to_be_visible()
    expect(page.locator("svg.sequence").first).to_contain_text("THE FAULT STRIKES")
    page.keyboard.press("u")
    expect(page.locator(".begin")).to_be_visible()


def test_a_count_leads_to_its_cells_and_the_address_keeps_the_filter(large: Path, opened: Open) -> None:
    page = opened(large / "index.html")
    assert (large / "index.html").stat().st_size < 1_000_000
    pick = page.locator("a.pick[data-mark=broke]").first
    count = int(pick.inner_text().replace(",", ""))
    boundary = pick.get_attribute("data-boundary")
    pick.click()
    expect(page.locator(".shown")).to_contain_text(f"{count} of ")
    expect(page.locator("form.filters [name=boundary]")).to_have_value(boundary or "")
    again = opened(large / "index.html", page.evaluate("location.hash"))
    expect(again.locator(".shown")).to_contain_text(f"{count} of ")
    again.locator("form.filters button[type=reset]").click()
    expect(again.locator("table.changes tbody tr:visible")).to_have_count(50)
    again.locator("button.rest").click()
    assert again.locator("table.changes tbody tr:visible").count() > 50


def test_the_league_is_sorted_by_keyboard(large: Path, opened: Open) -> None:
    page = opened(large / "index.html")
    table = page.locator("table.sortable").first
    table.locator("button.by-column").last.focus()
    page.keyboard.press("Enter")
    expect(table.locator("th[aria-sort=descending]")).to_have_count(1)
    cells = table.locator("tbody tr td:last-child")
    values = [int(cell.get_attribute("data-value") or "-1") for cell in cells.all()]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(("width", "scheme"), WIDTHS)
def test_no_page_scrolls_sideways(large: Path, opened: Open, width: int, scheme: str) -> None:
    site = large.parent / "site"
    with_history = next(page for page in sorted((large / "cells").iterdir()) if "side by side" in page.read_text())
    pages = [large / "index.html", with_history, site / "index.html", site / "method.html", *(site / "runtimes").iterdir()]
    for path in pages:
        page = opened(path, width=width, scheme=scheme)
        assert fits(page), path.name
        assert page.locator("h1").count() == 1

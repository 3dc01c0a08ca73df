from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

from benchmark import catalog, sweep
from benchmark.catalog import Catalogue, load
from benchmark.cells import Cell
from benchmark.cli import run as bench
from benchmark.cli.gates import verdict
from benchmark.exits import Exit
from benchmark.history import History
from benchmark.results import CellResult, Verdict
from benchmark.store import Store
from benchmark.sweep import OnResult, SweepSettings, SweepSummary

Make = Callable[..., CellResult]
MakeHistory = Callable[..., History]
Judge = Callable[[Cell], dict[str, object]]

CONTROL = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"
STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"
OTHER = "charge-card.client-token.after-commit.-.error.stdio.2025-11-25.first-once.-@1"
ARGUMENTS = ("run", "--runtime", "blind-retry", "--cell", CONTROL, "--cell", STRUCK)


class FakeSweep:
    """Stands in for the engine: answers every cell at once, as it is told."""

    def __init__(self, result: Make, history: MakeHistory) -> None:
        self._result, self._history = result, history
        self.judge: Judge = lambda cell: {}
        self.stop_after: int | None = None
        self.settings: list[SweepSettings] = []

    def __call__(self, settings: SweepSettings, on_result: OnResult) -> SweepSummary:
        self.settings.append(settings)
        for number, cell in enumerate(settings.cells):
            if number == self.stop_after:
                return SweepSummary(interrupted=True)
            on_result(self._result(cell.name, **{"wall_s": 0.1, **self.judge(cell)}), self._history(cell.name))
        return SweepSummary()


@cache
def _own() -> Catalogue:
    return load()


def loaded(extra: Iterable[Path] = ()) -> Catalogue:
    """The built-in catalogue, read once for all tests."""
    return load(extra) if extra else _own()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, result: Make, history: MakeHistory) -> FakeSweep:
    engine = FakeSweep(result, history)
    monkeypatch.setattr(catalog, "load", loaded)
    monkeypatch.setattr(sweep, "run_sweep", engine)
    monkeypatch.chdir(tmp_path)
    return engine


def duplicated(cell: Cell) -> dict[str, object]:
    if cell.boundary == "none":
        return {}
    return {"verdict": Verdict.VIOLATED, "extra": 1, "duplicates": 1, "reason": "1 duplicate effect"}


def test_a_run_keeps_every_cell_and_tells_where(fake: FakeSweep, capsys: pytest.CaptureFixture[str]) -> None:
    fake.judge = duplicated
    assert bench([*ARGUMENTS, "--out", "mine"]) == Exit.COMPLETED
    out, err = capsys.readouterr()
    assert "Results: mine" in out
    assert f"bench run --runtime blind-retry --cell {STRUCK}" in out
    assert "2 of 2 cells · 1 violated" in err
    store = Store.open(Path("mine"))
    assert {one.cell: one.verdict for one in store.results()} == {CONTROL: "correct", STRUCK: "violated"}
    assert store.history(STRUCK).declaration.cell == Cell.parse(STRUCK)
    assert set(store.header.cells) == {CONTROL, STRUCK}
    assert store.header.narrowed


def test_without_out_a_run_gets_a_folder_of_its_own_below_results(fake: FakeSweep) -> None:
    assert bench([*ARGUMENTS]) == bench([*ARGUMENTS]) == Exit.COMPLETED
    made = sorted(Path("results").iterdir())
    assert len(made) == 2
    assert all(folder.name.startswith("blind-retry-") for folder in made)


def test_options_reach_the_engine(fake: FakeSweep) -> None:
    bench([*ARGUMENTS, "--jobs", "3", "--no-preload", "--fail-fast"])
    settings = fake.settings[0]
    assert (settings.jobs, settings.preload, settings.fail_fast) == (3, False, True)
    assert settings.runtime.value.name == "blind-retry"


def test_an_interrupted_run_goes_on_where_it_was(fake: FakeSweep, capsys: pytest.CaptureFixture[str]) -> None:
    fake.stop_after = 1
    assert bench([*ARGUMENTS, "--out", "mine"]) == Exit.INTERRUPTED
    assert "bench run --resume mine" in capsys.readouterr().err
    first = {one.cell for one in Store.open(Path("mine")).results()}
    assert len(first) == 1

    fake.stop_after = None
    assert bench(["run", "--resume", "mine"]) == Exit.COMPLETED
    assert {cell.name for cell in fake.settings[-1].cells} == {CONTROL, STRUCK} - first
    assert len(Store.open(Path("mine")).results()) == 2

    assert bench(["run", "--resume", "mine"]) == Exit.COMPLETED
    assert len(fake.settings) == 2, "nothing was left to run"


@pytest.mark.parametrize(
    "more", [["--quick"], ["--cell", CONTROL], ["--out", "x"], ["--seed", "2"], ["--dry-run"], ["--repeat", "2"]]
)
def test_a_resumed_run_is_not_given_other_cells(
    fake: FakeSweep, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    bench([*ARGUMENTS, "--out", "mine"])
    capsys.readouterr()
    assert bench(["run", "--resume", "mine", *more]) == Exit.USAGE
    assert "cannot be given with --resume" in capsys.readouterr().err


def test_a_run_of_another_runtime_is_not_resumed(fake: FakeSweep, capsys: pytest.CaptureFixture[str]) -> None:
    bench([*ARGUMENTS, "--out", "mine"])
    capsys.readouterr()
    assert bench(["run", "--resume", "mine", "--runtime", "no-retry"]) == Exit.USAGE
    assert capsys.readouterr().err == "bench: mine: is a run of 'blind-retry', not of 'no-retry'\n"
    assert bench(["run", "--resume", "mine"]) == Exit.COMPLETED, "the refusal gave the folder free again"


@pytest.mark.parametrize(
    ("field", "what"), [("suite_hash", "the catalogue has"), ("runtime_hash", "the runtime's files have")]
)
def test_a_run_whose_suite_or_runtime_has_changed_is_not_resumed(
    fake: FakeSweep, capsys: pytest.CaptureFixture[str], field: str, what: str
) -> None:
    bench([*ARGUMENTS, "--out", "mine"])
    path = Path("mine/run.json")
    header = json.loads(path.read_text())
    path.write_text(json.dumps({**header, field: "other"}))
    assert bench(["run", "--resume", "mine"]) == Exit.USAGE
    assert f"{what} changed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "code"), [("extra", 1), ("violated", 1), ("duplicates", 1), ("missing", 0), ("false-dedup", 0)]
)
def test_fail_on_turns_what_it_names_into_exit_1(
    fake: FakeSweep, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    fake.judge = duplicated
    assert bench([*ARGUMENTS, "--fail-on", name]) == code
    assert (f"--fail-on {name}: 1 cell, such as {STRUCK}" in capsys.readouterr().err) == bool(code)


def test_fail_on_looks_at_truthful_adapters_only(fake: FakeSweep) -> None:
    fake.judge = lambda cell: {**duplicated(cell), "truthful": False}
    assert bench([*ARGUMENTS, "--fail-on", "extra"]) == Exit.COMPLETED


def test_an_expected_violation_passes_a_new_or_a_stale_one_fails(
    fake: FakeSweep, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fake.judge = duplicated
    (tmp_path / "known").write_text(f"{STRUCK}  extra\n")
    assert bench([*ARGUMENTS, "--expect", "known"]) == Exit.COMPLETED
    (tmp_path / "known").write_text("")
    assert bench([*ARGUMENTS, "--expect", "known"]) == Exit.REFUSED
    assert f"not expected: {STRUCK}  extra" in capsys.readouterr().err
    (tmp_path / "known").write_text(f"{STRUCK}  extra\n{CONTROL}  missing\n")
    assert bench([*ARGUMENTS, "--expect", "known"]) == Exit.REFUSED
    assert "known:2: stale" in capsys.readouterr().err


def test_json_of_a_run_is_one_document_on_standard_output(fake: FakeSweep, capsys: pytest.CaptureFixture[str]) -> None:
    fake.judge = duplicated
    bench([*ARGUMENTS, "--json", "--fail-on", "extra"])
    told = json.loads(capsys.readouterr().out)
    assert told["verdicts"] == {"violated": 1, "correct": 1}
    assert told["refused"] == [f"--fail-on extra: 1 cell, such as {STRUCK}"]


def test_a_dry_run_tells_the_plan_and_what_is_not_applicable_and_why(
    fake: FakeSweep, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(["run", "--runtime", "blind-retry", "--workload", "read-only", "--quick", "--dry-run"]) == Exit.COMPLETED
    out = capsys.readouterr().out
    assert "not applicable: find_charges only reads, nothing is committed" in out
    assert fake.settings == []
    assert not Path("results").exists()


def test_json_of_a_dry_run_lists_every_cell(fake: FakeSweep, capsys: pytest.CaptureFixture[str]) -> None:
    bench([*ARGUMENTS, "--dry-run", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert sorted(told["cells"], key=lambda one: str(one["cell"])) == [
        {"cell": STRUCK, "applicable": True, "reason": None},
        {"cell": CONTROL, "applicable": True, "reason": None},
    ]


def test_filters_that_leave_nothing_say_so(fake: FakeSweep, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "--runtime", "blind-retry", "--workload", "read-only", "--adapter", "append-line"]
    assert bench(arguments) == Exit.NOTHING_RAN
    assert capsys.readouterr().err == "bench: nothing ran: no cell of the plan passes these filters\n"
    assert bench([*arguments, "--dry-run"]) == Exit.NOTHING_RAN


def test_shuffle_changes_the_order_and_nothing_else(fake: FakeSweep) -> None:
    plain = ["run", "--runtime", "blind-retry", "--workload", "charge-card", "--quick"]
    bench(plain)
    bench([*plain, "--shuffle"])
    first, second = (settings.cells for settings in fake.settings)
    assert set(first) == set(second)
    assert first != second


def test_repeat_runs_each_cell_so_often(fake: FakeSweep) -> None:
    plain = ["run", "--runtime", "blind-retry", "--workload", "charge-card", "--adapter", "client-token", "--quick"]
    bench(plain)
    bench([*plain, "--repeat", "3"])
    first, second = (settings.cells for settings in fake.settings)
    assert len(second) == 3 * len(first)
    assert {cell.repeat for cell in second} == {1, 2, 3}


@pytest.mark.parametrize(
    ("verdicts", "more", "code"),
    [
        ([Verdict.CORRECT, Verdict.VIOLATED], {}, Exit.COMPLETED),
        ([Verdict.CORRECT], {"refused": True}, Exit.REFUSED),
        ([Verdict.CORRECT, Verdict.HARNESS_ERROR], {"refused": True}, Exit.HARNESS),
        ([Verdict.UNTESTABLE, Verdict.UNTESTABLE], {}, Exit.UNJUDGED),
        ([], {}, Exit.NOTHING_RAN),
        ([Verdict.CORRECT, Verdict.HARNESS_ERROR], {"interrupted": True}, Exit.INTERRUPTED),
    ],
)
def test_the_exit_code_is_the_gravest_thing_that_happened(
    result: Make, verdicts: list[Verdict], more: dict[str, bool], code: Exit
) -> None:
    found = [result(verdict=one, wall_s=1.0) for one in verdicts]
    assert verdict(found, **{"interrupted": False, "refused": False, **more}) == code


def test_when_no_cell_is_applicable_nothing_ran(result: Make) -> None:
    told = [result(verdict=Verdict.NOT_APPLICABLE, reason="append has no key")]
    assert verdict(told, interrupted=False, refused=False) == Exit.NOTHING_RAN


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run"], "which runtime? give --runtime NAME or --runtime PATH"),
        (["run", "--runtime", "blind-rety"], "there is no runtime 'blind-rety'; did you mean 'blind-retry'?"),
        (["run", "--runtime", "some/nowhere"], "there is no file"),
        (["run", "--runtime", "blind-retry", "--boundary", "aftr-commit"], "did you mean 'after-commit'?"),
        (["run", "--runtime", "blind-retry", "--workload", "charge-crd"], "did you mean 'charge-card'?"),
        (
            ["run", "--runtime", "blind-retry", "--cell", STRUCK.replace("reset", "rest")],
            "did you mean 'charge-card.client-token.after-commit",
        ),
        (["run", "--runtime", "blind-retry", "--fail-on", "exta"], "did you mean 'extra'?"),
        (["run", "--runtime", "blind-retry", "--expect", "nowhere"], "nowhere: cannot be read"),
        (["run", "--runtime", "blind-retry", "--jobs", "none"], "--jobs"),
        (["run", "--runtime", "blind-retry", "--jobs", "0"], "--jobs"),
        (["run", "--runtime", "blind-retry", "--catalog", "nowhere"], "--catalog nowhere: no catalogue"),
        (["run", "--runtime"], "--runtime"),
        (["run", "--resume", "nowhere"], "there is no run 'nowhere'"),
        (["run", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
        (["list", "nonsense"], "nonsense"),
        (["show", "nowhere"], "there is no run 'nowhere'"),
        (["show"], "argument"),
        (["rescore", "nowhere"], "there is no run 'nowhere'"),
    ],
)
def test_a_users_mistake_is_one_line_on_standard_error_and_exit_2(
    fake: FakeSweep, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert bench(arguments) == Exit.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("bench: ")
    assert err.count("\n") == 1
    assert says in err
    assert fake.settings == []


def test_a_folder_that_cannot_be_made_is_the_users_mistake(fake: FakeSweep, capsys: pytest.CaptureFixture[str]) -> None:
    Path("taken").write_text("")
    assert bench([*ARGUMENTS, "--out", "taken"]) == Exit.USAGE
    assert "taken: cannot make the run's folder" in capsys.readouterr().err


def test_a_second_run_does_not_overwrite_the_first(fake: FakeSweep, capsys: pytest.CaptureFixture[str]) -> None:
    bench([*ARGUMENTS, "--out", "mine"])
    assert bench([*ARGUMENTS, "--out", "mine"]) == Exit.USAGE
    assert "--resume mine" in capsys.readouterr().err


def test_an_interrupt_keeps_what_there_is_and_is_no_traceback(
    fake: FakeSweep, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(settings: SweepSettings, on_result: OnResult) -> SweepSummary:
        fake.stop_after = 1
        fake(settings, on_result)
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep, "run_sweep", interrupted)
    assert bench([*ARGUMENTS, "--out", "mine"]) == Exit.INTERRUPTED
    assert capsys.readouterr().err.splitlines()[-1] == "interrupted; go on with: bench run --resume mine"
    assert len(Store.open(Path("mine")).results()) == 1


def test_a_cell_named_in_full_can_be_repeated(fake: FakeSweep) -> None:
    assert bench(["run", "--runtime", "blind-retry", "--cell", STRUCK, "--repeat", "3"]) == Exit.COMPLETED
    assert [cell.repeat for cell in fake.settings[0].cells] == [1, 2, 3]


def test_a_cell_that_the_plan_lacks_can_be_run(fake: FakeSweep) -> None:
    name = "charge-card.meta-key.after-commit.-.silence.http.2026-07-28.first-every.-@7"
    assert bench(["run", "--runtime", "blind-retry", "--cell", name]) == Exit.COMPLETED
    assert [cell.name for cell in fake.settings[0].cells] == [name]

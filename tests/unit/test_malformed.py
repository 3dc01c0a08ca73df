"""Malformed inputs: each is answered with one clear line (file, line, remedy), and leaves nothing half-written."""

from __future__ import annotations

import copy
import json
import resource
import signal
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.catalog import folders, load
from benchmark.cli import run as bench
from benchmark.errors import UsageError
from benchmark.exits import Exit
from benchmark.history import History
from benchmark.provenance import suite_hash
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult, Verdict
from benchmark.store import RunHeader, Store
from tests.unit.malformed import (
    ANY_TEXT,
    ARGUMENTS,
    CELL,
    EXPECTATIONS,
    HISTORIES,
    JSON_TEXT,
    LINES,
    ORACLES,
    PLACES,
    TOML,
    Corrupt,
    Replace,
    Told,
    corrupt,
    replace,
    tree,
    unclear,
)
from tests.unit.test_catalog import FILES

Make = Callable[..., CellResult]
STRUCK = "charge-card.client-token.after-commit.-.reset.stdio.2025-11-25.first-once.-@1"
CONTROL = "charge-card.client-token.none.-.-.stdio.2025-11-25.first-once.-@1"
DECLARATIONS = tuple(name for name in FILES if name.endswith(".toml"))
RUNTIME = "adapters/runtimes/agent/runtime.toml"

COUNT: dict[str, int] = {}
"""Kind of input → how many were tried and refused."""


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    """No input may keep a command waiting, or fill the memory."""

    def late(*_: object) -> None:
        raise TimeoutError("this input keeps bench waiting")

    before, limits = signal.signal(signal.SIGALRM, late), resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 30), limits[1]))
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small, right catalogue instead of the benchmark's own, in an otherwise empty working directory."""
    root = tmp_path / "catalogue"
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    monkeypatch.setattr(folders, "own", lambda: root)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return root


@pytest.fixture
def run(catalogue: Path, header: RunHeader, result: Make, history: Callable[..., History]) -> Path:
    """A run of two cells below ``results/``, one with its history."""
    folder = Path("results/run-1")
    with Store.create(
        folder, header.model_copy(update={"suite_hash": suite_hash([catalogue]), "runtime": "agent"})
    ) as store:
        store.append(result(STRUCK, verdict=Verdict.VIOLATED, extra=1, duplicates=1), history(STRUCK))
        store.append(result(CONTROL), None)
    return folder


def say(capsys: pytest.CaptureFixture[str], *words: str) -> Told:
    capsys.readouterr()
    code = bench(list(words))
    out, err = capsys.readouterr()
    return Told(code, out, err)


def refused(kind: str, told: Told, *names: object, lined: bool = False, code: Exit = Exit.USAGE) -> None:
    """The command refused the input as it should."""
    fault = unclear(told, names=[str(name) for name in names], lined=lined)
    assert not fault, f"{fault}: {told.err[:2000]!r}"
    assert told.code == code, told
    assert told.out == ""
    COUNT[kind] = COUNT.get(kind, 0) + 1


def load_command(name: str) -> tuple[str, ...]:
    return ("run", "--runtime", "agent", "--dry-run") if name == RUNTIME else ("list", "workloads")


@pytest.mark.parametrize("how", [*ANY_TEXT.values(), *TOML.values()], ids=[*ANY_TEXT, *TOML])
@pytest.mark.parametrize("name", DECLARATIONS)
def test_a_declaration_that_is_no_declaration(
    catalogue: Path, capsys: pytest.CaptureFixture[str], name: str, how: Corrupt
) -> None:
    corrupt(catalogue / name, how)
    before = tree(catalogue.parent)
    refused(name, say(capsys, *load_command(name)), catalogue / name, lined=True)
    assert tree(catalogue.parent) == before


@pytest.mark.parametrize("by", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("name", DECLARATIONS)
def test_something_else_in_a_declarations_place(
    catalogue: Path, capsys: pytest.CaptureFixture[str], name: str, by: Replace
) -> None:
    replace(catalogue / name, by)
    refused(name, say(capsys, *load_command(name)), catalogue)


WRONG: tuple[Any, ...] = (
    3,
    -1,
    0,
    1.5,
    True,
    "",
    "no such thing",
    "../../etc/passwd",
    "\x1b[2J\u202e\n",
    "x" * 5000,
    [],
    [[]],
    ["", 1],
    {},
    {"a": {"b": [1]}},
    None,
)
"""Values of which hardly any key can take more than a few; None: the key is left out."""


def places(value: Any, keys: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every value in a document, tables and arrays included."""
    if keys:
        yield keys
    if isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, (*keys, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*keys, index))


def put(document: Any, keys: tuple[str | int, ...], value: Any) -> Any:
    """The document with another value in one place."""
    changed = copy.deepcopy(document)
    *way, last = keys
    inside = changed
    for key in way:
        inside = inside[key]
    if value is None:
        del inside[last]
    else:
        inside[last] = value
    return changed


def toml(value: Any) -> str:
    """A value in TOML, on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {toml(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def document(name: str) -> dict[str, Any]:
    return tomllib.loads(FILES[name])


EVERY_KEY = [(name, keys) for name in DECLARATIONS for keys in places(document(name))]


@pytest.mark.parametrize(("name", "keys"), EVERY_KEY, ids=[f"{name}:{'.'.join(map(str, keys))}" for name, keys in EVERY_KEY])
def test_any_other_value_in_any_place_of_a_declaration(catalogue: Path, name: str, keys: tuple[str | int, ...]) -> None:
    """Whatever stands there is taken, or refused as clearly as a mistake that somebody thought of."""
    for wrong in WRONG:
        changed = put(document(name), keys, wrong)
        (catalogue / name).write_text("".join(f"{toml(key)} = {toml(item)}\n" for key, item in changed.items()), "utf-8")
        told = loaded(catalogue)
        if told is not None:
            fault = unclear(told, names=[str(catalogue)], lined=True)
            assert not fault, f"{fault}: {wrong!r}: {told.err}"
            COUNT["keys of declarations"] = COUNT.get("keys of declarations", 0) + 1


def loaded(root: Path) -> Told | None:
    """What a command would say of the catalogue; None: it is right."""
    try:
        load(roots=[root]).runtime("agent")
    except UsageError as error:
        return Told(Exit.USAGE, "", f"bench: {plain(' '.join(str(error).split()), 1000)}\n")
    return None


@pytest.fixture
def expected(catalogue: Path) -> Path:
    file = Path("expected.txt").absolute()
    file.write_text("# known\n*.after-commit.*  extra\n", "utf-8")
    return file


GATED = ("run", "--runtime", "agent", "--dry-run", "--expect")


@pytest.mark.parametrize("how", [*ANY_TEXT.values(), *EXPECTATIONS.values()], ids=[*ANY_TEXT, *EXPECTATIONS])
def test_an_expectation_file_that_is_none(expected: Path, capsys: pytest.CaptureFixture[str], how: Corrupt) -> None:
    corrupt(expected, how)
    refused("expectation files", say(capsys, *GATED, str(expected)), expected, lined=True)


@pytest.mark.parametrize("by", PLACES.values(), ids=PLACES)
def test_something_else_in_an_expectation_files_place(
    expected: Path, capsys: pytest.CaptureFixture[str], by: Replace
) -> None:
    replace(expected, by)
    refused("expectation files", say(capsys, *GATED, str(expected)), expected)


READERS: dict[str, tuple[str, ...]] = {
    "show": ("show", "run-1"),
    "rescore": ("rescore", "run-1"),
    "rescore --check": ("rescore", "run-1", "--check"),
    "explain": ("explain", "run-1", STRUCK),
    "run --resume": ("run", "--resume", "run-1"),
}
"""Commands that stop at the first fault of a run's folder, as whoever goes on with it must."""


@pytest.mark.parametrize("how", [*ANY_TEXT.values(), *JSON_TEXT.values()], ids=[*ANY_TEXT, *JSON_TEXT])
@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_a_header_that_is_none(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], how: Corrupt
) -> None:
    corrupt(run / "run.json", how)
    before = tree(run)
    refused("run.json", say(capsys, *command), run / "run.json")
    assert tree(run) == before


@pytest.mark.parametrize("by", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_something_else_in_a_headers_place(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], by: Replace
) -> None:
    replace(run / "run.json", by)
    before = tree(run)
    refused("run.json", say(capsys, *command), run)
    assert tree(run) == before


@pytest.mark.parametrize("how", LINES.values(), ids=LINES)
@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_a_result_that_is_none(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], how: Corrupt
) -> None:
    first, *others = (run / "cells.jsonl").read_bytes().split(b"\n")
    (run / "cells.jsonl").write_bytes(b"\n".join([how(first), *others]))
    before = tree(run)
    refused("cells.jsonl", say(capsys, *command), run / "cells.jsonl", lined=True)
    assert tree(run) == before


@pytest.mark.parametrize("by", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_something_else_in_the_results_place(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], by: Replace
) -> None:
    replace(run / "cells.jsonl", by)
    before = tree(run)
    refused("cells.jsonl", say(capsys, *command), run)
    assert tree(run) == before


HISTORY_READERS: dict[str, tuple[str, ...]] = {
    "show": ("show", "run-1", STRUCK),
    "explain": ("explain", "run-1", STRUCK),
    "rescore": ("rescore", "run-1"),
}


@pytest.mark.parametrize(
    "how",
    [*HISTORIES.values(), ANY_TEXT["a NUL byte"], ANY_TEXT["invalid UTF-8"], ANY_TEXT["UTF-16"], ANY_TEXT["random bytes"]],
    ids=[*HISTORIES, "a NUL byte", "invalid UTF-8", "UTF-16", "random bytes"],
)
@pytest.mark.parametrize("command", HISTORY_READERS.values(), ids=HISTORY_READERS)
def test_a_history_that_is_none(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], how: Corrupt
) -> None:
    path = run / "history" / f"{STRUCK}.jsonl"
    corrupt(path, how)
    before = tree(run)
    refused("histories", say(capsys, *command), path, lined=True)
    assert tree(run) == before


@pytest.mark.parametrize("by", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("command", HISTORY_READERS.values(), ids=HISTORY_READERS)
def test_something_else_in_a_historys_place(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], by: Replace
) -> None:
    replace(run / "history" / f"{STRUCK}.jsonl", by)
    before = tree(run)
    refused("histories", say(capsys, *command), run)
    assert tree(run) == before


@pytest.mark.parametrize(("words", "said"), ARGUMENTS, ids=[repr(" ".join(words))[1:60] for words, _ in ARGUMENTS])
def test_a_wrong_command_line(
    catalogue: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    Path("a-file").write_text("x", "utf-8")
    Path("a-folder").mkdir()
    PLACES["a pipe"](Path("a-pipe"))
    before = tree(catalogue.parent)
    refused("arguments", say(capsys, *words), said)
    assert tree(catalogue.parent) == before


@pytest.mark.parametrize("text", ORACLES.values(), ids=ORACLES)
def test_an_oracle_that_cannot_be_loaded(catalogue: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    file = catalogue / "oracles/vault.py"
    file.write_text(text, "utf-8")
    before = tree(catalogue.parent)
    refused("oracles", say(capsys, "run", "--runtime", "agent", "--cell", CELL), file, lined=True)
    assert tree(catalogue.parent) == before


REPORTERS: dict[str, tuple[str, ...]] = {
    "report": ("report", "run-1", "--cells", "none"),
    "compare": ("compare", "run-1", "run-1"),
    "export --format json": ("export", "run-1", "--format", "json"),
    "export --format junit": ("export", "run-1", "--format", "junit"),
    "publish": ("publish", "run-1", "--into", "published"),
}
"""Commands that tell what can still be read, and say what cannot."""


def told_or_refused(kind: str, told: Told) -> None:
    """Every line on standard error is ours; the rest was told, or there was nothing to tell."""
    assert told.code in (Exit.COMPLETED, Exit.REFUSED, Exit.USAGE), told
    for line in told.err.splitlines():
        fault = unclear(Told(told.code, "", f"bench: {line.removeprefix('bench: ').removeprefix('note: ')}\n"))
        assert not fault, f"{fault}: {line[:500]!r}"
    COUNT[kind] = COUNT.get(kind, 0) + 1


@pytest.mark.parametrize("how", [*ANY_TEXT.values(), *JSON_TEXT.values()], ids=[*ANY_TEXT, *JSON_TEXT])
@pytest.mark.parametrize("command", REPORTERS.values(), ids=REPORTERS)
def test_whoever_reports_survives_a_header_that_is_none(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], how: Corrupt
) -> None:
    corrupt(run / "run.json", how)
    told = say(capsys, *command)
    told_or_refused("run.json, reported", told)
    assert "run.json" in told.err


@pytest.mark.parametrize("how", LINES.values(), ids=LINES)
@pytest.mark.parametrize("command", REPORTERS.values(), ids=REPORTERS)
def test_whoever_reports_survives_a_result_that_is_none(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], how: Corrupt
) -> None:
    first, *others = (run / "cells.jsonl").read_bytes().split(b"\n")
    (run / "cells.jsonl").write_bytes(b"\n".join([how(first), *others]))
    told = say(capsys, *command)
    told_or_refused("cells.jsonl, reported", told)
    assert "cells.jsonl:1: " in told.err


@pytest.mark.parametrize("by", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("file", ["run.json", "cells.jsonl", f"history/{STRUCK}.jsonl"])
@pytest.mark.parametrize("command", REPORTERS.values(), ids=REPORTERS)
def test_whoever_reports_survives_something_else_in_a_files_place(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], file: str, by: Replace
) -> None:
    replace(run / file, by)
    told_or_refused("other things in a run's folder, reported", say(capsys, *command))


def test_there_are_at_least_two_hundred(capsys: pytest.CaptureFixture[str]) -> None:
    """Stands last, and tells how many inputs the tests before it had refused (none, if only it was run)."""
    total = sum(COUNT.values())
    with capsys.disabled():
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(COUNT.items()))
        print(f"\n{total} malformed inputs refused: {told}")
    assert len(ARGUMENTS) + len(DECLARATIONS) * len([*ANY_TEXT, *TOML, *PLACES]) >= 200

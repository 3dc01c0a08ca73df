"""Malformed inputs: each is answered with one clear line (file, line, remedy), and leaves nothing half-written."""

from __future__ import annotations

import copy
import json
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
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult, Verdict
from benchmark.store import RunHeader, Store
from tests.unit.malformed import ANY_TEXT, PLACES, TOML, Corrupt, Replace, Told, corrupt, replace, tree, unclear
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
    """No input may keep a command waiting."""
    signal.alarm(60)
    yield
    signal.alarm(0)


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
    with Store.create(folder, header) as store:
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

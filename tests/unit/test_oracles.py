"""Each oracle tells apart states with one effect added, removed, altered, undone or a decoy's, and says when it is blind."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmark.effects import Effect
from benchmark.errors import OracleError

ROOT = Path(__file__).parents[2]


def load(path: str) -> ModuleType:
    """A catalogue module, by its path below the checkout."""
    name = "catalogue_" + path.replace("/", "_").removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


journal = load("adapters/providers/ledger/journal.py")
ledger_oracle = load("oracles/ledger.py")
files_oracle = load("oracles/files.py")
caldav_oracle = load("oracles/caldav.py")

CHARGE = {"order": "1001", "amount": 10000, "currency": "usd"}


def state(effects: list[Effect]) -> list[dict[str, Any]]:
    return [effect.model_dump() for effect in effects]


def ledger_state(folder: Path, act: Callable[[Any], object]) -> list[dict[str, Any]]:
    """What the oracle sees of a fresh ledger after ``act``, before and after the provider has closed it."""
    place = folder / f"{len(list(folder.iterdir()))}.sqlite"
    ledger = journal.Ledger(place)
    act(ledger)
    live = state(ledger_oracle.read(place))
    ledger.close()
    assert state(ledger_oracle.read(place)) == live
    return live


def charge(ledger: Any, **changed: Any) -> str:
    receipt: str = ledger.post("/charges", {**CHARGE, **changed}, journal.Terms()).body["receipt"]
    return receipt


def test_an_empty_ledger_has_no_effects(tmp_path: Path) -> None:
    assert ledger_state(tmp_path, lambda ledger: None) == []


def test_the_ledger_oracle_lists_class_receipt_fields_and_reference(tmp_path: Path) -> None:
    assert ledger_state(tmp_path, lambda ledger: charge(ledger, reference="r-1")) == [
        {
            "effect_class": "charge",
            "receipt": "ch_1",
            "fields": {**CHARGE, "memo": None},
            "reference": "r-1",
            "undone": False,
        }
    ]


def test_the_ledger_oracle_tells_apart_added_removed_altered_undone_and_decoy(tmp_path: Path) -> None:
    def two(ledger: Any) -> None:
        charge(ledger), charge(ledger, order="1002")

    def altered(ledger: Any) -> None:
        charge(ledger), charge(ledger, order="1002", amount=1)

    def undone(ledger: Any) -> None:
        two(ledger)
        ledger.undo("ch_2")

    def decoy(ledger: Any) -> None:
        two(ledger)
        charge(ledger, order="1002")

    def other_class(ledger: Any) -> None:
        charge(ledger)
        ledger.post("/legs", {"account": "a", "amount": 1}, journal.Terms())

    acts: list[Callable[[Any], object]] = [charge, two, altered, undone, decoy, other_class]
    states = [ledger_state(tmp_path, act) for act in acts]
    assert [len(effects) for effects in states] == [1, 2, 2, 2, 3, 2]
    assert all(left != right for index, left in enumerate(states) for right in states[:index])
    assert [effect["undone"] for effect in states[3]] == [False, True]
    assert states[4][1]["receipt"] != states[4][2]["receipt"]


def test_a_put_that_changes_nothing_is_no_effect_and_each_change_is_one(tmp_path: Path) -> None:
    def act(ledger: Any) -> None:
        for content in ("a", "a", "b", "a"):
            ledger.put("x/y", {"content": content}, journal.Terms())
        ledger.undo("x/y@3")
        ledger.put("x/y", {"content": "c"}, journal.Terms())

    seen = ledger_state(tmp_path, act)
    assert [(effect["receipt"], effect["fields"]["content"], effect["undone"]) for effect in seen] == [
        ("x/y@1", "a", False),
        ("x/y@2", "b", False),
        ("x/y@3", "a", True),
        ("x/y@4", "c", False),
    ]


def test_the_journal_cannot_be_rewritten(tmp_path: Path) -> None:
    place = tmp_path / "l.sqlite"
    ledger = journal.Ledger(place)
    charge(ledger)
    other = sqlite3.connect(place)
    for statement in ("DELETE FROM journal", "UPDATE journal SET fields = '{}'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            other.execute(statement)
    other.close()
    ledger.close()


def damaged_ledgers(folder: Path) -> Iterator[tuple[str, Path]]:
    yield "missing", folder / "none.sqlite"
    yield "a folder", folder
    (folder / "empty.sqlite").touch()
    yield "empty", folder / "empty.sqlite"
    (folder / "text.sqlite").write_text("this is no database, " * 100)
    yield "text", folder / "text.sqlite"
    for name, statements in {
        "unknown schema": "PRAGMA user_version = 99",
        "no journal": "DROP TABLE journal",
        "gap": "DROP TRIGGER journal_keeps_rows; DELETE FROM journal WHERE seq = 1",
        "broken fields": "DROP TRIGGER journal_keeps_values; UPDATE journal SET fields = '{'",
        "undo of nothing": "INSERT INTO journal (kind, class, receipt, fields) VALUES ('undo', 'charge', 'ch_9', '{}')",
    }.items():
        place = folder / f"{name}.sqlite"
        ledger = journal.Ledger(place)
        charge(ledger), charge(ledger)
        ledger.close()
        database = sqlite3.connect(place)
        database.executescript(statements)
        database.close()
        yield name, place
    torn = folder / "torn.sqlite"
    ledger = journal.Ledger(torn)
    charge(ledger)
    ledger.close()
    torn.write_bytes(torn.read_bytes()[:5000])
    yield "torn", torn


def test_the_ledger_oracle_raises_where_it_cannot_read(tmp_path: Path) -> None:
    for name, place in damaged_ledgers(tmp_path):
        with pytest.raises(OracleError):
            pytest.fail(f"{name}: read as {ledger_oracle.read(place)}")


def line(path: Path, *entries: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps(entry) + "\n" for entry in entries)


def files_state(folder: Path, act: Callable[[Path], None]) -> list[dict[str, Any]]:
    place = folder / str(len(list(folder.iterdir())))
    place.mkdir()
    act(place)
    return state(files_oracle.read(place))


FIRST, SECOND = {"line": "a", "note": None, "tag": "t1"}, {"line": "b", "note": "n", "tag": "t2"}


def test_an_empty_folder_has_no_effects(tmp_path: Path) -> None:
    assert files_state(tmp_path, lambda root: None) == []


def test_the_files_oracle_lists_lines_and_objects(tmp_path: Path) -> None:
    def act(root: Path) -> None:
        line(root / "log/a.txt", FIRST)
        (root / "objects/x").mkdir(parents=True)
        (root / "objects/x/y").write_text("hello")
        (root / ".staging").mkdir()
        (root / ".staging/half").write_text("not yet")

    seen = [(effect["effect_class"], effect["receipt"], effect["fields"]) for effect in files_state(tmp_path, act)]
    assert seen == [
        ("line", "t1", {"path": "log/a.txt", "line": "a", "note": None}),
        ("object", "x/y@2cf24dba5fb0", {"path": "x/y", "content": "hello"}),
    ]


def test_the_files_oracle_tells_apart_added_removed_altered_undone_and_decoy(tmp_path: Path) -> None:
    def put(root: Path, content: str) -> None:
        (root / "objects").mkdir()
        (root / "objects/x").write_text(content)

    acts: list[Callable[[Path], None]] = [
        lambda root: line(root / "f", FIRST),
        lambda root: line(root / "f", FIRST, SECOND),
        lambda root: line(root / "f", FIRST, {**SECOND, "line": "c"}),
        lambda root: line(root / "f", FIRST, SECOND, {"undoes": "t2"}),
        lambda root: line(root / "f", FIRST, SECOND, {**SECOND, "tag": "decoy"}),
        lambda root: line(root / "g", FIRST, SECOND),
        lambda root: put(root, "one"),
        lambda root: put(root, "two"),
    ]
    states = [files_state(tmp_path, act) for act in acts]
    assert [len(effects) for effects in states] == [1, 2, 2, 2, 3, 2, 1, 1]
    assert all(left != right for index, left in enumerate(states) for right in states[:index])
    assert [effect["undone"] for effect in states[3]] == [False, True]


def test_the_files_oracle_raises_where_it_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(OracleError):
        files_oracle.read(tmp_path / "none")
    damaged = {
        "torn": '{"line": "a", "tag": "t1"}',
        "not JSON": "hello\n",
        "not an object": "[1]\n",
        "no tag": '{"line": "a"}\n',
        "undo of nothing": '{"undoes": "t9"}\n',
        "tag twice": '{"line": "a", "tag": "t1"}\n{"line": "a", "tag": "t1"}\n',
        "not text": "\udcff\n",
    }
    for name, text in damaged.items():
        place = tmp_path / name
        place.mkdir()
        (place / "f").write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(OracleError):
            pytest.fail(f"{name}: read as {files_oracle.read(place)}")


def calendar(folder: Path, **events: str) -> list[dict[str, Any]]:
    """What the oracle sees of a calendar with these events: name → lines of the event after its beginning."""
    place = folder / str(len(list(folder.iterdir())))
    place.mkdir()
    (place / ".Radicale.props").write_text("{}")
    for name, lines in events.items():
        whole = f"BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:{name}\n{lines}\nEND:VEVENT\nEND:VCALENDAR\n"
        (place / f"{name}.ics").write_bytes(whole.replace("\n", "\r\n").encode())
    return state(caldav_oracle.read(place))


ADA, BEN = "DTSTART:20270105T090000Z\nSUMMARY:ada", "DTSTART:20270105T090000Z\nSUMMARY:ben"


def test_the_caldav_oracle_lists_events_unfolded_and_unescaped(tmp_path: Path) -> None:
    assert calendar(tmp_path) == []
    (effect,) = calendar(tmp_path, a="DTSTART;TZID=UTC:20270105T090000\nSUMMARY:a\\, \n b\nDESCRIPTION:one\\ntwo\\\\")
    assert (effect["effect_class"], effect["receipt"]) == ("booking", "a.ics")
    assert effect["fields"] == {"slot": "20270105T090000", "attendee": "a, b", "note": "one\ntwo\\"}


def test_the_caldav_oracle_tells_apart_added_removed_altered_and_decoy(tmp_path: Path) -> None:
    states = [
        calendar(tmp_path, a=ADA),
        calendar(tmp_path, a=ADA, b=BEN),
        calendar(tmp_path, a=ADA, b=ADA),
        calendar(tmp_path, a=BEN),
        calendar(tmp_path, a=ADA.replace("T09", "T10")),
        calendar(tmp_path, a=f"{ADA}\nDESCRIPTION:n"),
        calendar(tmp_path, z=ADA),
    ]
    assert all(left != right for index, left in enumerate(states) for right in states[:index])


def test_the_caldav_oracle_raises_where_it_cannot_read(tmp_path: Path) -> None:
    damaged = {
        "torn": b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:x\r\n",
        "empty": b"",
        "not text": b"\xff",
        "no slot": b"BEGIN:VEVENT\nEND:VEVENT\n",
    }
    for name, content in damaged.items():
        place = tmp_path / name
        place.mkdir()
        (place / "a.ics").write_bytes(content)
        with pytest.raises(OracleError):
            pytest.fail(f"{name}: read as {caldav_oracle.read(place)}")
    with pytest.raises(OracleError):
        caldav_oracle.read(tmp_path / "none")

"""The effect records: SQLite in the runtime's state folder, durable before anything is dispatched.

A record is what is known about one effect the user authorised, across attempts, restarts and new plans. Times are wall-clock
seconds: they must outlive the process.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from _baseline.task import Call, Task

SCHEMA = """
CREATE TABLE IF NOT EXISTS effects (
    effect_id TEXT PRIMARY KEY, workflow_id TEXT NOT NULL, intent_id TEXT NOT NULL, call_index INTEGER NOT NULL,
    intent_hash TEXT NOT NULL, tool TEXT NOT NULL, contract_version TEXT NOT NULL, authority TEXT NOT NULL,
    target TEXT NOT NULL, arguments TEXT NOT NULL, state TEXT NOT NULL, provider_key TEXT,
    retention_deadline REAL, receipts TEXT NOT NULL,
    UNIQUE (workflow_id, intent_id, call_index)
) STRICT;
CREATE TABLE IF NOT EXISTS attempts (
    effect_id TEXT NOT NULL REFERENCES effects, n INTEGER NOT NULL, incarnation INTEGER NOT NULL,
    dispatched_at REAL NOT NULL, ended_at REAL, ending TEXT, PRIMARY KEY (effect_id, n)
) STRICT;
CREATE TABLE IF NOT EXISTS receipts (receipt TEXT PRIMARY KEY, effect_id TEXT NOT NULL REFERENCES effects) STRICT;
"""


class State(StrEnum):
    """What is known about an effect."""

    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"
    COMMITTED = "committed"
    FAILED_BEFORE_EFFECT = "failed_before_effect"
    """Proven: nothing happened."""
    UNKNOWN_AFTER_DISPATCH = "unknown_after_dispatch"

    @property
    def nothing_happened(self) -> bool:
        return self in (State.NOT_STARTED, State.FAILED_BEFORE_EFFECT)


@dataclass(frozen=True)
class Record:
    """One effect (or, with several effects per call, the effects of one call)."""

    effect_id: str
    intent_hash: str
    arguments: dict[str, Any]
    """What is sent at every attempt: the recorded arguments, never a later plan's."""
    state: State
    retention_deadline: float | None
    """After this the provider may have forgotten the key. None: it never forgets, or nothing was dispatched yet."""
    receipts: tuple[str, ...]
    attempts: int


class Book:
    """All records of one state folder."""

    def __init__(self, task: Task) -> None:
        self._incarnation = task.incarnation
        self._db = sqlite3.connect(Path(task.state_dir) / "effects.sqlite3", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.executescript(SCHEMA)

    def close(self) -> None:
        self._db.close()

    def plan(self, calls: list[Call]) -> None:
        """Records every call that is not yet recorded; what an earlier plan recorded stays as it is.

        What an earlier incarnation left in progress is unknown from now on.
        """
        with _Transaction(self._db):
            self._db.execute(
                "UPDATE effects SET state = ? WHERE state = ?", (State.UNKNOWN_AFTER_DISPATCH, State.IN_PROGRESS)
            )
            for call in calls:
                contract = call.contract
                self._db.execute(
                    "INSERT OR IGNORE INTO effects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, '[]')",
                    (
                        call.effect_id,
                        call.workflow,
                        call.intent,
                        call.index,
                        intent_hash(call),
                        call.tool,
                        _digest(contract.raw if contract else {}),
                        canonical({"principal": call.workflow, "generation": self._incarnation}),
                        canonical(binding(call)),
                        json.dumps(call.arguments),
                        State.NOT_STARTED,
                        call.key if contract and contract.key else None,
                    ),
                )

    def read(self, effect_id: str) -> Record:
        row = self._db.execute(
            "SELECT intent_hash, arguments, state, retention_deadline, receipts,"
            " (SELECT count(*) FROM attempts WHERE attempts.effect_id = effects.effect_id) FROM effects WHERE effect_id = ?",
            (effect_id,),
        ).fetchone()
        return Record(effect_id, row[0], json.loads(row[1]), State(row[2]), row[3], tuple(json.loads(row[4])), row[5])

    def adopt(self, record: Record, arguments: dict[str, Any]) -> None:
        """Takes over changed free arguments; only while nothing has happened."""
        self._db.execute("UPDATE effects SET arguments = ? WHERE effect_id = ?", (json.dumps(arguments), record.effect_id))

    def dispatch(self, record: Record, retention_s: float | None) -> int:
        """The write-ahead: one attempt more, the deadline of its key; durable when it returns the attempt's number."""
        now = time.time()
        deadline = record.retention_deadline
        if deadline is None and retention_s is not None:
            # The provider counts from its first receipt, which is later: we stop trusting the key too early, never too late.
            deadline = now + retention_s
        number = record.attempts + 1
        with _Transaction(self._db):
            self._db.execute(
                "UPDATE effects SET state = ?, retention_deadline = ? WHERE effect_id = ?",
                (State.IN_PROGRESS, deadline, record.effect_id),
            )
            self._db.execute(
                "INSERT INTO attempts VALUES (?, ?, ?, ?, NULL, NULL)", (record.effect_id, number, self._incarnation, now)
            )
        return number

    def end(self, record: Record, number: int, ending: str, state: State) -> None:
        """How an attempt ended, and what is known now."""
        with _Transaction(self._db):
            self._db.execute(
                "UPDATE attempts SET ended_at = ?, ending = ? WHERE effect_id = ? AND n = ?",
                (time.time(), ending, record.effect_id, number),
            )
            self._set(record, state)

    def know(self, record: Record, state: State) -> None:
        """What reconciliation has proven."""
        with _Transaction(self._db):
            self._set(record, state)

    def commit(self, record: Record, receipts: tuple[str, ...], number: int | None = None) -> None:
        """Proven committed, with the receipts of the effects."""
        with _Transaction(self._db):
            if number is not None:
                self._db.execute(
                    "UPDATE attempts SET ended_at = ?, ending = 'answered' WHERE effect_id = ? AND n = ?",
                    (time.time(), record.effect_id, number),
                )
            self._db.execute(
                "UPDATE effects SET state = ?, receipts = ? WHERE effect_id = ?",
                (State.COMMITTED, json.dumps(receipts), record.effect_id),
            )
            for receipt in receipts:
                self._db.execute("INSERT OR IGNORE INTO receipts VALUES (?, ?)", (receipt, record.effect_id))

    def owner(self, receipts: tuple[str, ...], besides: str) -> str | None:
        """The effect that already has one of these receipts, if it is another one."""
        for receipt in receipts:
            row = self._db.execute(
                "SELECT effect_id FROM receipts WHERE receipt = ? AND effect_id <> ?", (receipt, besides)
            ).fetchone()
            if row:
                return str(row[0])
        return None

    def _set(self, record: Record, state: State) -> None:
        if state.nothing_happened:
            # No receipt of this key exists, so its retention has not begun.
            self._db.execute("UPDATE effects SET retention_deadline = NULL WHERE effect_id = ?", (record.effect_id,))
        self._db.execute("UPDATE effects SET state = ? WHERE effect_id = ?", (state, record.effect_id))


class _Transaction:
    """BEGIN IMMEDIATE … COMMIT, or ROLLBACK."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *rest: object) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")


def binding(call: Call) -> dict[str, Any]:
    """The arguments that make it this effect and no other."""
    names = call.contract.binding if call.contract else ()
    return {name: call.arguments.get(name) for name in names}


def intent_hash(call: Call) -> str:
    """Over tool and binding arguments, compared as JSON: 100 and 100.0 are the same."""
    return _digest({"tool": call.tool, "binding": binding(call)})


def canonical(value: Any) -> str:
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _digest(value: Any) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value

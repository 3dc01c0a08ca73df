"""Attempts on record, in a database that all instances of a server share. Times are wall-clock seconds."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

SCHEMA = """
CREATE TABLE IF NOT EXISTS attempts (
    organisation TEXT NOT NULL, agent TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL,
    began REAL NOT NULL, output TEXT, PRIMARY KEY (organisation, agent, key)
) STRICT
"""
Owner = tuple[str, str]


@dataclass(frozen=True)
class Record:
    """What is known of an earlier attempt. ``output``: its result's content, where it is kept."""

    state: Literal["running", "reused", "done", "stalled"]
    output: dict[str, Any] | None = None


@dataclass(frozen=True)
class Records:
    """Records live for the window, counted from the attempt's beginning, those that are not done at least for the lease."""

    file: Path
    window_s: float
    lease_s: float

    def begin(self, owner: Owner, key: str, tool: str, arguments: dict[str, Any]) -> Record | None:
        """The earlier attempt with this key; None: there is none, and this one is written down."""
        request, now = _canonical([tool, arguments]), time.time()
        with self._transaction() as database:
            row = database.execute(f"SELECT request, state, began, output {_WHERE}", (*owner, key)).fetchone()
            if row is not None:
                state, lives_s = row[1], self.window_s
                if state != "done":
                    lives_s = max(self.window_s, self.lease_s)
                if now < row[2] + lives_s or state == "running":
                    return self._earlier(row, request, now)
            database.execute(
                "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, 'running', ?, NULL)", (*owner, key, request, now)
            )
        return None

    def _earlier(self, row: tuple[str, Any, float, str | None], request: str, now: float) -> Record:
        if row[0] != request:
            return Record("reused")
        if row[1] == "running" and now >= row[2] + self.lease_s:
            return Record("stalled")
        return Record(row[1], json.loads(row[3]) if row[3] is not None else None)

    def done(self, owner: Owner, key: str, output: dict[str, Any] | None, largest: int) -> None:
        """The attempt is done; a result of more than ``largest`` bytes is not kept."""
        text = None if output is None else json.dumps(output)
        self._set(owner, key, "done", text if text is not None and len(text.encode()) <= largest else None)

    def stopped(self, owner: Owner, key: str) -> None:
        """The attempt ended, and nobody knows how far it came."""
        self._set(owner, key, "stalled", None)

    def released(self, owner: Owner, key: str) -> None:
        """The attempt did nothing; its key is free."""
        with self._transaction() as database:
            database.execute(f"DELETE {_WHERE}", (*owner, key))

    def _set(self, owner: Owner, key: str, state: str, output: str | None) -> None:
        with self._transaction() as database:
            values = (state, output, *owner, key)
            database.execute(
                "UPDATE attempts SET state = ?, output = ? WHERE organisation = ? AND agent = ? AND key = ?", values
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.file, isolation_level=None, timeout=10.0)) as database:
            database.execute(SCHEMA)
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")


_WHERE = "FROM attempts WHERE organisation = ? AND agent = ? AND key = ?"


def _canonical(value: Any) -> str:
    """Text that is equal for equal JSON values (the tool server has made whole numbers integers already)."""
    return json.dumps(value, sort_keys=True)

"""One namespace: a SQLite database with an append-only journal, idempotency keys and unique references.

Every mutation is one transaction, committed before the answer is returned.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Json = dict[str, Any]

SCHEMA = """
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('effect', 'undo')),
    class TEXT NOT NULL,
    receipt TEXT NOT NULL,
    fields TEXT NOT NULL,
    reference TEXT,
    UNIQUE (kind, receipt)
);
CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER journal_keeps_values BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TABLE references_taken (class TEXT NOT NULL, reference TEXT, receipt TEXT NOT NULL, UNIQUE (class, reference));
CREATE TABLE keys (
    endpoint TEXT NOT NULL, key TEXT NOT NULL, bound TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
    receipt TEXT NOT NULL, received_s REAL NOT NULL, PRIMARY KEY (endpoint, key)
);
CREATE TABLE stock (name TEXT PRIMARY KEY);
PRAGMA user_version = 1;
"""


@dataclass(frozen=True)
class Kind:
    """An effect class: prefix of its receipts, and its fields with their types (``?``: optional)."""

    name: str
    prefix: str
    fields: Mapping[str, str]


EVENTS: dict[str, Kind] = {
    "/charges": Kind("charge", "ch", {"order": "string", "amount": "integer", "currency": "string", "memo": "string?"}),
    "/messages": Kind("message", "msg", {"to": "string", "subject": "string", "body": "string?"}),
    "/resources": Kind("resource", "res", {"name": "string", "size": "integer", "note": "string?"}),
    "/legs": Kind("leg", "leg", {"account": "string", "amount": "integer", "memo": "string?"}),
    "/refunds": Kind("refund", "rf", {"order": "string", "amount": "integer", "currency": "string", "memo": "string?"}),
    "/deletions": Kind("deletion", "del", {"name": "string", "note": "string?"}),
    "/jobs": Kind("job", "job", {"job": "string", "input": "string", "note": "string?"}),
}
OBJECT = Kind("object", "", {"content": "string", "note": "string?"})


@dataclass(frozen=True)
class Answer:
    """HTTP status and JSON body."""

    status: int
    body: Json


@dataclass(frozen=True)
class Terms:
    """What the request asked for: idempotency key, fields that bind, unique reference, create only, unique handle."""

    key: str | None = None
    binding: tuple[str, ...] | None = None
    reference_unique: bool = False
    until_void: bool = False
    """A unique reference is free again once its effect was undone."""
    create_only: bool = False
    if_taken: Literal["refuse", "return"] | None = None
    """Of jobs: what a start with a handle that is taken gets; None: another job of that handle."""
    keeps_errors: bool = False
    """A refusal is remembered under the key, too."""


@dataclass
class Ledger:
    """An open namespace. ``retention_s``: how long keys are remembered (None: for ever).

    ``stock``: names of resources that were there before anybody made an effect.
    """

    database: Path
    retention_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    stock: tuple[str, ...] = ()
    _db: sqlite3.Connection = field(init=False)

    def __post_init__(self) -> None:
        self._db = sqlite3.connect(self.database, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
            self._db.executescript("BEGIN IMMEDIATE;" + SCHEMA + "COMMIT;")
            self._db.executemany("INSERT INTO stock VALUES (?)", [(name,) for name in self.stock])

    def close(self) -> None:
        self._db.close()

    def post(self, path: str, body: Json, terms: Terms) -> Answer:
        """A new event-like effect at one of ``EVENTS``, or the answer that its key or reference calls for."""
        kind = EVENTS[path]
        wrong = invalid(kind, body)
        if wrong:
            return Answer(400, {"code": "invalid", "message": wrong})

        def make() -> Answer:
            taken = self._reference_taken(kind, body, terms) if terms.reference_unique else None
            taken = taken or self._impossible(kind, body, terms)
            if taken is not None:
                return taken
            number = self._count(kind.name) + 1
            return self._record(kind, f"{kind.prefix}_{number}", fields_of(kind, body), body.get("reference"), terms)

        with self._transaction():
            return self._keyed(f"POST {path}", body, terms, make)

    def transfer(self, body: Json, terms: Terms) -> Answer:
        """Both legs of a transfer in one transaction: −amount on the first account, +amount on the second."""
        accounts, amount, memo = body.get("accounts"), body.get("amount"), body.get("memo")
        if not isinstance(accounts, list) or len(accounts) != 2 or amount is None or not is_integer(amount):
            return Answer(400, {"code": "invalid", "message": "accounts: source and target; amount: an integer"})
        kind = EVENTS["/legs"]
        legs = [
            {"account": account, "amount": sign * amount, "memo": memo}
            for account, sign in zip(accounts, (-1, 1), strict=True)
        ]
        for leg in legs:
            wrong = invalid(kind, leg)
            if wrong:
                return Answer(400, {"code": "invalid", "message": wrong})

        def make() -> Answer:
            receipts = []
            for leg in legs:
                receipt = f"{kind.prefix}_{self._count(kind.name) + 1}"
                self._record(kind, receipt, fields_of(kind, leg), None, terms)
                receipts.append(receipt)
            return Answer(201, {"receipts": receipts})

        with self._transaction():
            return self._keyed("POST /transfers", body, terms, make)

    def put(self, path: str, body: Json, terms: Terms) -> Answer:
        """A new version of the object at ``path``; 200 if its content stays, 412 if it may only be created and exists."""
        wrong = invalid(OBJECT, body)
        if wrong:
            return Answer(400, {"code": "invalid", "message": wrong})

        def make() -> Answer:
            receipt, content = self._current(path)
            if receipt is not None and terms.create_only:
                return Answer(412, {"code": "exists" if content == body["content"] else "mismatch", "receipt": receipt})
            if receipt is not None and content == body["content"]:
                return Answer(200, {"receipt": receipt, "unchanged": True})
            version = len(self._versions(path)) + 1
            fields = {"path": path, **fields_of(OBJECT, body)}
            return self._record(OBJECT, f"{path}@{version}", fields, body.get("reference"), terms)

        with self._transaction():
            return self._keyed(f"PUT /objects/{path}", body, terms, make)

    def undo(self, receipt: Any) -> Answer:
        """Takes an effect back; the journal keeps both. Of an object only the newest version can be undone."""
        with self._transaction():
            query = "SELECT class, fields FROM journal WHERE kind = 'effect' AND receipt = ?"
            row = self._db.execute(query, (receipt,)).fetchone()
            if row is None:
                return Answer(404, {"code": "unknown", "receipt": receipt})
            if row[0] == OBJECT.name and self._current(json.loads(row[1])["path"])[0] != receipt:
                return Answer(409, {"code": "superseded", "receipt": receipt})
            try:
                self._db.execute(
                    "INSERT INTO journal (kind, class, receipt, fields) VALUES ('undo', ?, ?, '{}')", (row[0], receipt)
                )
            except sqlite3.IntegrityError:
                return Answer(200, {"receipt": receipt, "undone": True, "replayed": True})
            return Answer(200, {"receipt": receipt, "undone": True})

    def find(self, path: str, wanted: Mapping[str, str]) -> Answer:
        """Effects of one class (undone ones left out) whose fields, or reference, have these values."""
        kind = EVENTS[path]
        unknown = [name for name in wanted if name != "reference" and name not in kind.fields]
        if unknown or not wanted:
            known = ", ".join(["reference", *kind.fields])
            return Answer(400, {"code": "invalid", "message": f"search by one of: {known}"})
        found = []
        for receipt, fields, reference in self._standing(kind.name):
            values = {**fields, "reference": reference}
            if all(values[name] is not None and str(values[name]) == value for name, value in wanted.items()):
                found.append({"receipt": receipt, "reference": reference, "arguments": fields})
        return Answer(200, {"found": found})

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _keyed(self, endpoint: str, body: Json, terms: Terms, make: Callable[[], Answer]) -> Answer:
        """``make()``'s answer, remembered under the key; or what was remembered, or 422 where it was another request."""
        if terms.key is None:
            return make()
        bound = canonical(bound_fields(body, terms))
        row = self._db.execute(
            "SELECT bound, status, body, receipt, received_s FROM keys WHERE endpoint = ? AND key = ?", (endpoint, terms.key)
        ).fetchone()
        now = self.clock()
        if row is not None and (self.retention_s is None or now < row[4] + self.retention_s):
            if row[0] != bound:
                return Answer(422, {"code": "mismatch", **({"receipt": row[3]} if row[3] else {})})
            return Answer(row[1], {**json.loads(row[2]), "replayed": True})
        answer = make()
        if answer.status < 300 or terms.keeps_errors:
            self._db.execute(
                "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?, ?, ?)",
                (endpoint, terms.key, bound, answer.status, json.dumps(answer.body), answer.body.get("receipt", ""), now),
            )
        return answer

    def _reference_taken(self, kind: Kind, body: Json, terms: Terms) -> Answer | None:
        """409 if the database's constraint says that the reference is taken; null references never collide."""
        reference, receipt = body.get("reference"), f"{kind.prefix}_{self._count(kind.name) + 1}"
        if terms.until_void:
            self._db.execute(
                "DELETE FROM references_taken WHERE class = ? AND reference = ? AND EXISTS"
                " (SELECT 1 FROM journal WHERE kind = 'undo' AND receipt = references_taken.receipt)",
                (kind.name, reference),
            )
        try:
            self._db.execute("INSERT INTO references_taken VALUES (?, ?, ?)", (kind.name, reference, receipt))
        except sqlite3.IntegrityError:
            taken, fields = self._db.execute(
                "SELECT receipt, (SELECT fields FROM journal WHERE kind = 'effect' AND receipt = references_taken.receipt)"
                " FROM references_taken WHERE class = ? AND reference = ?",
                (kind.name, reference),
            ).fetchone()
            names = terms.binding if terms.binding is not None else tuple(kind.fields)
            before, now = json.loads(fields), fields_of(kind, body)
            same = canonical([before.get(name) for name in names]) == canonical([now.get(name) for name in names])
            return Answer(409, {"code": "exists" if same else "mismatch", "receipt": taken})
        return None

    def _impossible(self, kind: Kind, body: Json, terms: Terms) -> Answer | None:
        """Why there can be no such effect now: nothing of that name to delete, a handle that is taken; None: there can."""
        if kind.name == "deletion" and not self._exists(body["name"]):
            return Answer(404, {"code": "not_found", "message": f"there is no resource {body['name']!r}"})
        if kind.name == "job" and terms.if_taken is not None:
            for receipt, fields, _ in self._standing(kind.name):
                if fields["job"] == body["job"]:
                    same = fields["input"] == body["input"]
                    if same and terms.if_taken == "return":
                        return Answer(200, {"receipt": receipt, "unchanged": True})
                    return Answer(409, {"code": "exists" if same else "mismatch", "receipt": receipt})
        return None

    def _exists(self, name: str) -> bool:
        """A resource of this name is there: in stock or made, and not deleted since (each deletion takes one)."""
        held = int(self._db.execute("SELECT count(*) FROM stock WHERE name = ?", (name,)).fetchone()[0])
        made = sum(fields["name"] == name for _, fields, _ in self._standing("resource"))
        gone = sum(fields["name"] == name for _, fields, _ in self._standing("deletion"))
        return bool(held + made > gone)

    def _record(self, kind: Kind, receipt: str, fields: Json, reference: str | None, terms: Terms) -> Answer:
        self._db.execute(
            "INSERT INTO journal (kind, class, receipt, fields, reference) VALUES ('effect', ?, ?, ?, ?)",
            (kind.name, receipt, json.dumps(fields), reference),
        )
        return Answer(201, {"receipt": receipt, **fields, "reference": reference})

    def _count(self, name: str) -> int:
        query = "SELECT count(*) FROM journal WHERE kind = 'effect' AND class = ?"
        return int(self._db.execute(query, (name,)).fetchone()[0])

    def _standing(self, name: str) -> list[tuple[str, Json, str | None]]:
        """Effects of a class that were not undone: (receipt, fields, reference), oldest first."""
        rows = self._db.execute(
            "SELECT receipt, fields, reference FROM journal AS made WHERE kind = 'effect' AND class = ? AND NOT EXISTS"
            " (SELECT 1 FROM journal WHERE kind = 'undo' AND receipt = made.receipt) ORDER BY seq",
            (name,),
        )
        return [(receipt, json.loads(fields), reference) for receipt, fields, reference in rows]

    def _versions(self, path: str) -> list[str]:
        rows = self._db.execute("SELECT receipt, fields FROM journal WHERE kind = 'effect' AND class = 'object'")
        return [receipt for receipt, fields in rows if json.loads(fields)["path"] == path]

    def _current(self, path: str) -> tuple[str | None, str | None]:
        """Receipt and content of the object's standing version; (None, None) if there is none."""
        standing = [(receipt, fields) for receipt, fields, _ in self._standing(OBJECT.name) if fields["path"] == path]
        return (standing[-1][0], standing[-1][1]["content"]) if standing else (None, None)


def fields_of(kind: Kind, body: Json) -> Json:
    """The class's fields as the body has them; an absent optional one is null."""
    return {name: body.get(name) for name in kind.fields}


def bound_fields(body: Json, terms: Terms) -> Json:
    """What a key binds: the named fields, or the whole body."""
    return body if terms.binding is None else {name: body.get(name) for name in terms.binding}


def canonical(value: Any) -> str:
    """Text that is equal for equal JSON values (1 equals 1.0)."""

    def plain(item: Any) -> Any:
        if isinstance(item, dict):
            return {name: plain(inner) for name, inner in item.items()}
        if isinstance(item, list):
            return [plain(inner) for inner in item]
        return int(item) if isinstance(item, float) and item.is_integer() else item

    return json.dumps(plain(value), sort_keys=True)


def invalid(kind: Kind, body: Json) -> str | None:
    """What is wrong with the body, or None."""
    types = {**kind.fields, "reference": "string?"}
    for name in body:
        if name not in types:
            return f"unknown field {name!r}"
    for name, wanted in types.items():
        value = body.get(name)
        if value is None:
            if not wanted.endswith("?"):
                return f"field {name!r} is missing"
        elif not (isinstance(value, str) if wanted.startswith("string") else is_integer(value)):
            return f"field {name!r} is not of type {wanted}"
    return None


def is_integer(value: Any) -> bool:
    """Whether a JSON value is a whole number (1.0 is one, true is not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer()

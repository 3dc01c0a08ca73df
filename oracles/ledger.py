"""Oracle of the ledger: reads its SQLite journal through its own, read-only connection."""

from __future__ import annotations

import json
import pathlib
import sqlite3
from urllib.parse import quote

from benchmark.effects import Effect
from benchmark.errors import OracleError

SCHEMA_VERSION = 1


def read(place: pathlib.Path) -> list[Effect]:
    """Every effect in the database file ``place``, oldest first, undone ones marked.

    Raises OracleError where the state cannot be read: no file, no database, another schema, a gap in the journal.
    """
    if not place.is_file():
        raise OracleError(f"{place}: no database there")
    try:
        connection = sqlite3.connect(f"file:{quote(str(place))}?mode=ro", uri=True, isolation_level=None, timeout=5.0)
    except sqlite3.Error as error:
        raise OracleError(f"{place}: cannot be opened: {error}") from error
    try:
        return _effects(connection)
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise OracleError(f"{place}: cannot be read: {error}") from error
    finally:
        connection.close()


def _effects(connection: sqlite3.Connection) -> list[Effect]:
    """Reads the journal in one snapshot; raises ValueError where it is not as expected."""
    connection.execute("BEGIN")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA_VERSION:
        raise ValueError(f"schema version {version} is unknown, expected {SCHEMA_VERSION}")
    rows = connection.execute("SELECT seq, kind, class, receipt, fields, reference FROM journal ORDER BY seq").fetchall()
    made: dict[str, Effect] = {}
    for position, (seq, kind, effect_class, receipt, fields, reference) in enumerate(rows, start=1):
        if seq != position:
            raise ValueError(f"the journal has a gap before entry {seq}")
        if kind == "effect" and receipt not in made:
            values = json.loads(fields)
            made[receipt] = Effect.model_validate(
                {"class": effect_class, "receipt": receipt, "fields": values, "reference": reference}
            )
        elif kind == "undo" and receipt in made:
            made[receipt] = made[receipt].model_copy(update={"undone": True})
        else:
            raise ValueError(f"entry {seq} ({kind} of {receipt}) makes no sense here")
    return list(made.values())

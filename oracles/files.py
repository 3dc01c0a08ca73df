"""Oracle of the files provider: reads line files and objects below a folder."""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Iterator
from typing import Any

from benchmark.effects import Effect
from benchmark.errors import OracleError


def read(place: pathlib.Path) -> list[Effect]:
    """Every line (in order of file and position) and every object below ``place``.

    A line that a later line of its file undoes is marked. Folders that begin with a dot hold staged files, no effects.
    Raises OracleError where the state cannot be read: no folder, a damaged line, a tag seen twice.
    """
    if not place.is_dir():
        raise OracleError(f"{place}: no folder there")
    objects = place / "objects"
    effects: list[Effect] = []
    try:
        for path in _files(place):
            if path.is_relative_to(objects):
                effects.append(_object(path, path.relative_to(objects).as_posix()))
            else:
                effects += _lines(path, path.relative_to(place).as_posix())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OracleError(f"{place}: cannot be read: {error!r}") from error
    receipts = [effect.receipt for effect in effects]
    if len(set(receipts)) != len(receipts):
        raise OracleError(f"{place}: a receipt occurs twice")
    return effects


def _files(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if not path.name.startswith("."):
                yield from _files(path)
        else:
            yield path


def _object(path: pathlib.Path, name: str) -> Effect:
    content = path.read_bytes()
    return Effect.model_validate(
        {
            "class": "object",
            "receipt": f"{name}@{hashlib.sha256(content).hexdigest()[:12]}",
            "fields": {"path": name, "content": content.decode()},
        }
    )


def _lines(path: pathlib.Path, name: str) -> list[Effect]:
    text = path.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        raise ValueError(f"{name}: the last line is torn")
    made: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        entry = json.loads(line)
        if "undoes" in entry:
            made[entry["undoes"]]["undone"] = True
        elif entry["tag"] in made:
            raise ValueError(f"{name}:{number}: the tag {entry['tag']!r} occurs twice")
        else:
            fields = {"path": name, "line": entry["line"], "note": entry.get("note")}
            made[entry["tag"]] = {"class": "line", "receipt": entry["tag"], "fields": fields}
    return [Effect.model_validate(effect) for effect in made.values()]

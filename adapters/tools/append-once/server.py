"""Lines appended to files, each with a tag made from the caller's id: who finds the tag there appends nothing."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmark.toolserver import Invalid, Made, Taken, relative, serve


def prepare(root: Path, fields: dict[str, Any]) -> Callable[[], Made]:
    """The append, in one write; raises Invalid where the path leaves the folder, Taken where the id names another line."""
    path = relative(fields["path"])
    if path.parts[0] == "objects":
        raise Invalid("objects are not line files")
    file, given = root / path, fields.get("line_id")
    named = given if given is not None else uuid.uuid4().hex
    tag = f"ln_{hashlib.sha256(f'{path} {named}'.encode()).hexdigest()[:16]}"
    there = _line(file, tag)
    if there is not None and there != fields["line"]:
        raise Taken(tag)

    def append() -> Made:
        if _line(file, tag) is not None:
            return Made(tag, changed=False)
        entry = json.dumps({"line": fields["line"], "note": fields.get("note"), "tag": tag}, ensure_ascii=False) + "\n"
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, entry.encode())
        finally:
            os.close(descriptor)
        return Made(tag)

    return append


def _line(file: Path, tag: str) -> str | None:
    """The line with this tag; None: there is none."""
    if not file.is_file():
        return None
    entries = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return next((str(entry["line"]) for entry in entries if entry.get("tag") == tag), None)


if __name__ == "__main__":
    serve(__file__, prepare=prepare)

"""Lines appended to files: one JSON object a line, with a tag of its own as receipt."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmark.toolserver import Invalid, Made, relative, serve


def prepare(root: Path, fields: dict[str, Any]) -> Callable[[], Made]:
    """The append, in one write; raises Invalid where the path leaves the folder or lies among the objects."""
    path = relative(fields["path"])
    if path.parts[0] == "objects":
        raise Invalid("objects are not line files")

    def append() -> Made:
        tag = f"ln_{uuid.uuid4().hex[:12]}"
        entry = json.dumps({"line": fields["line"], "note": fields.get("note"), "tag": tag}, ensure_ascii=False) + "\n"
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, entry.encode())
        finally:
            os.close(descriptor)
        return Made(tag)

    return append


if __name__ == "__main__":
    serve(__file__, prepare=prepare)

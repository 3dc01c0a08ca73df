"""Objects staged and renamed into place: a file below ``objects/``, whose receipt names its content."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmark.toolserver import Made, relative, serve


def prepare(root: Path, fields: dict[str, Any]) -> Callable[[], Made]:
    """The write and the rename; raises Invalid where the path leaves the folder."""
    name = relative(fields["path"])

    def put() -> Made:
        content = fields["content"].encode()
        staged = root / ".staging" / uuid.uuid4().hex
        staged.parent.mkdir(exist_ok=True)
        with staged.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        place = root / "objects" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        changed = not place.exists() or place.read_bytes() != content
        staged.replace(place)
        return Made(f"{name}@{hashlib.sha256(content).hexdigest()[:12]}", changed)

    return put


if __name__ == "__main__":
    serve(__file__, prepare=prepare)

"""The folder for everything that a sweep needs for a while: made by the one process that outlives the rest, and removed."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path


def make() -> Path:
    """A fresh folder, below ``TMPDIR``; raises OSError."""
    return Path(tempfile.mkdtemp(prefix="bench-"))


def remove(folder: Path) -> None:
    """Delete a folder, also one in which a program locked its own folders; what cannot be deleted stays."""
    shutil.rmtree(folder, ignore_errors=True)
    for place, names, _ in os.walk(folder):
        for name in names:
            inner = os.path.join(place, name)  # noqa: PTH118 - os.walk speaks in strings
            if not os.path.islink(inner):  # noqa: PTH114
                os.chmod(inner, 0o700)  # noqa: PTH101
    shutil.rmtree(folder, ignore_errors=True)

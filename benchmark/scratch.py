"""The folder for everything that a sweep needs for a while: made by the one process that outlives the rest, and removed."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
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


def size(folder: Path) -> int:
    """The size of all files in a folder, links not followed; what vanishes meanwhile does not count."""
    total = 0
    for place, _, names in os.walk(folder) if not folder.is_symlink() else ():
        for name in names:
            with suppress(OSError):
                status = (Path(place) / name).lstat()
                total += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return total

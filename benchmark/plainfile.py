"""A text file that a user gave: read whole, or refused in one line that names the file, the line and the remedy.

Never waits (a pipe is refused, not read) and never reads without end (a device, a file that cannot be meant).
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from benchmark.errors import UsageError

MOST = 16 << 20
"""Bytes of the largest file that a person may have written."""


def text(path: Path, most: int | None = MOST) -> str:
    """The file's text; raises UsageError ``FILE:LINE: what is wrong; the remedy``. ``most``: bytes, None: any size."""
    data = content(path, most)
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{path}:1: is not plain UTF-8, it begins with a byte order mark; save it as UTF-8 without one")
    zero = data.find(b"\0")
    if zero >= 0:
        raise UsageError(f"{path}:{_line(data, zero)}: holds a NUL byte (byte {zero}); it is no text, or was damaged")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = _line(data, error.start)
        raise UsageError(f"{path}:{line}: is not UTF-8 (byte {error.start}); save it as UTF-8") from None


def content(path: Path, most: int | None = MOST) -> bytes:
    """The file's bytes; raises UsageError where it is no regular file, is too large, or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise UsageError(f"{path}:1: cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in the path
        raise UsageError(f"{str(path)!r}: is no path: {error}") from None
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise UsageError(f"{path}:1: cannot be read: Is a directory; give a file")
        if not stat.S_ISREG(found.st_mode):
            raise UsageError(f"{path}:1: cannot be read: is a pipe, socket or device; give a file")
        if most is not None and found.st_size > most:
            raise UsageError(f"{path}:1: has {found.st_size} bytes, at most {most} are read; is it the right file?")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"{path}:1: cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _line(data: bytes, at: int) -> int:
    """The line (from 1) of an offset."""
    return data.count(b"\n", 0, at) + 1

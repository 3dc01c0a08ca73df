"""A text file that a user gave: read whole, or refused in one line that names the file, the line and the remedy.

Never waits (a pipe is refused, not read) and never reads without end (a device, a file that cannot be meant).
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any, BinaryIO

import pydantic_core

from benchmark.errors import UsageError

MOST = 16 << 20
"""Bytes of the largest file that a person may have written."""

_HALF_OF_MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def text(path: Path, most: int | None = MOST) -> str:
    """The file's text; raises UsageError ``FILE:LINE: what is wrong; the remedy``.

    ``most``: bytes of the largest file that is read; None: what memory holds.
    """
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


def json_object(path: Path, data: bytes | str) -> dict[str, Any]:
    """The one JSON object that a file holds; raises UsageError naming file and line."""
    try:
        found = pydantic_core.from_json(data)
    except ValueError as error:
        place = re.search(r" at line (\d+) column \d+$", str(error))
        line, said = (place[1], str(error)[: place.start()]) if place else ("1", str(error))
        raise UsageError(f"{path}:{line}: not a JSON object: {said}; it was damaged, or is another file") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path}:1: not a JSON object; it was damaged, or is another file")
    return found


def content(path: Path, most: int | None = MOST) -> bytes:
    """The file's bytes; raises UsageError where it is no regular file, is too large, or cannot be read."""
    with opened(path, most) as file:
        try:
            return file.read()
        except OSError as error:
            raise UsageError(f"{path}:1: cannot be read: {error.strerror}") from None


def exists(path: Path) -> bool:
    """Whether a file or link is there; raises UsageError where that cannot be told."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    return True


def opened(path: Path, most: int | None = MOST) -> BinaryIO:
    """The file, to be read bit by bit; raises UsageError as ``content`` does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except OSError as error:
        raise UsageError(f"{path}:1: cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in the path
        raise UsageError(f"{str(path)!r}: is no path: {error}") from None
    try:
        _check(path, os.fstat(descriptor), _HALF_OF_MEMORY if most is None else most)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check(path: Path, found: os.stat_result, limit: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise UsageError(f"{path}:1: cannot be read: Is a directory; give a file")
    if not stat.S_ISREG(found.st_mode):
        raise UsageError(f"{path}:1: cannot be read: is a pipe, socket or device; give a file")
    if found.st_size > limit:
        raise UsageError(f"{path}:1: has {found.st_size} bytes, at most {limit} are read; is it the right file?")


def _line(data: bytes, at: int) -> int:
    """The line (from 1) of an offset."""
    return data.count(b"\n", 0, at) + 1

"""What a program prints: read as fast as it comes, so that it never blocks; the beginning is kept, the rest only counted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEPT = 1 << 16
"""Bytes of a program's output that are kept."""


class Output:
    """A pipe whose writing end is a program's stdout and stderr. Nothing of it lands on disk."""

    def __init__(self) -> None:
        """Must be made in a running event loop."""
        self._ours, self.place = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._ours, False)
        self._kept = bytearray()
        self._dropped = 0
        asyncio.get_running_loop().add_reader(self._ours, self._read)

    @contextmanager
    def places(self) -> Iterator[dict[int, int]]:
        """The standard descriptors of a program that reads nothing and prints here; ours of them are closed at the end."""
        null = os.open(os.devnull, os.O_RDWR)
        try:
            yield {0: null, 1: self.place, 2: self.place}
        finally:
            self.handed_over()
            os.close(null)

    def handed_over(self) -> None:
        """The program has its end (``place``): close ours of it."""
        if self.place >= 0:
            os.close(self.place)
            self.place = -1

    @property
    def last_line(self) -> str:
        """The last line that was kept, for a message; empty if there is none."""
        lines = bytes(self._kept).decode(errors="replace").split("\n")
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")

    def _read(self) -> bool:
        """Take what is there; False if there is nothing."""
        try:
            data = os.read(self._ours, KEPT)
        except BlockingIOError:
            return False
        if not data:  # no writer is left
            asyncio.get_running_loop().remove_reader(self._ours)
            return False
        room = KEPT - len(self._kept)
        self._kept += data[:room]
        self._dropped += max(0, len(data) - room)
        return True

    def close(self) -> bytes:
        """Stop reading; what was kept, with a last line on what was not. Whoever still writes is told that nobody reads."""
        self.handed_over()
        if self._ours >= 0:
            while len(self._kept) < KEPT and self._read():
                pass
            asyncio.get_running_loop().remove_reader(self._ours)
            os.close(self._ours)
            self._ours = -1
        more = f"\n… {self._dropped} more bytes\n".encode() if self._dropped else b""
        return bytes(self._kept) + more


def keep(file: Path, printed: dict[str, bytes]) -> None:
    """One file for what the programs of a cell printed; none if they printed nothing. Raises OSError."""
    parts = [b"--- " + name.encode() + b"\n" + text for name, text in sorted(printed.items()) if text]
    if parts:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"".join(parts))

"""Ways in which a file can be wrong, whatever it is meant to hold; and what one clear error looks like."""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

Corrupt = Callable[[bytes], bytes]
Replace = Callable[[Path], None]


def in_the_middle(junk: bytes) -> Corrupt:
    """Junk in the middle of the second line."""

    def corrupt(data: bytes) -> bytes:
        lines = data.split(b"\n")
        row = min(1, len(lines) - 1)
        half = len(lines[row]) // 2
        lines[row] = lines[row][:half] + junk + lines[row][half:]
        return b"\n".join(lines)

    return corrupt


def at_the_end(junk: bytes) -> Corrupt:
    return lambda data: data.rstrip(b"\n") + b"\n" + junk


ANY_TEXT: dict[str, Corrupt] = {
    "a NUL byte": in_the_middle(b"\0"),
    "invalid UTF-8": in_the_middle(b"\xff\xfe\xfd"),
    "half a character": at_the_end(b"\xe2\x82"),
    "a surrogate in UTF-8": in_the_middle(b"\xed\xa0\x80"),
    "UTF-16": lambda data: data.decode("utf-8").encode("utf-16"),
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "an executable": lambda _: b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0" * 64,
    "random bytes": lambda data: b"".join(hashlib.sha256(data + bytes([n])).digest() for n in range(40)),
}
"""Corruptions of any text file."""

TOML: dict[str, Corrupt] = {
    "nothing": lambda _: b"",
    "only blanks": lambda _: b" \n\t\n",
    "only a comment": lambda _: b"# to do\n",
    "JSON instead": lambda _: b'{"name": "x"}\n',
    "YAML instead": lambda _: b"name: x\ntitle: y\n",
    "prose": lambda _: b"Please charge the card.\n",
    "an open string": at_the_end(b'more = "never closed\n'),
    "an open long string": at_the_end(b'more = """never closed\n'),
    "an open array": at_the_end(b"more = [1, 2\n"),
    "an open inline table": at_the_end(b"more = { a = 1\n"),
    "an open header": at_the_end(b"[more\n"),
    "a key without a value": at_the_end(b"more =\n"),
    "a value without a key": at_the_end(b'= "x"\n'),
    "a key twice": at_the_end(b'["x"]\na = 1\na = 2\n'),
    "a table twice": at_the_end(b"[x]\n[x]\n"),
    "a control character": in_the_middle(b"\x1b[31m"),
    "a lone carriage return": in_the_middle(b"\r"),
    "a wrong escape": at_the_end(b'more = "\\q"\n'),
    "half of it": lambda data: data[: len(data) // 2].rpartition(b" ")[0] + b' = "',
    "deep arrays": at_the_end(b"more = " + b"[" * 5000 + b"]" * 5000 + b"\n"),
    "deep inline tables": at_the_end(b"more = " + b"{a=" * 5000 + b"1" + b"}" * 5000 + b"\n"),
    "a deep dotted key": at_the_end(b"[" + b".".join([b"a"] * 5000) + b"]\n"),
    "a number of ten thousand digits": at_the_end(b"more = " + b"9" * 10_000 + b"\n"),
    "a number beyond 64 bits": at_the_end(b"more = 99999999999999999999\n"),
    "not a number": at_the_end(b"more = nan\n"),
    "infinity": at_the_end(b"more = -inf\n"),
    "a date": at_the_end(b"more = 2026-01-01\n"),
    "a time": at_the_end(b"more = 07:32:00\n"),
    "a NUL in a string": at_the_end(b'more = "a\\u0000b"\n'),
    "an unknown key": lambda data: b"nmae = 1\n" + data,
    "a megabyte in one unknown key": lambda data: b"k" * (1 << 20) + b" = 1\n" + data,
    "an unknown key that colours the terminal": lambda data: b'"\\u001b[31m\\u202e" = 1\n' + data,
}
"""Corruptions of a TOML file with a closed set of keys."""

JSON_TEXT: dict[str, Corrupt] = {
    "nothing": lambda _: b"",
    "only blanks": lambda _: b" \n",
    "half of it": lambda data: data[: len(data) // 2],
    "a list": lambda _: b"[]",
    "a number": lambda _: b"3",
    "null": lambda _: b"null",
    "a string": lambda _: b'"run"',
    "an empty object": lambda _: b"{}",
    "two objects": lambda data: data + data,
    "a trailing comma": lambda data: data.rstrip()[:-1] + b",}",
    "single quotes": lambda data: data.replace(b'"', b"'"),
    "NaN": lambda data: data.replace(b'"schema_version": 1', b'"schema_version": NaN'),
    "a newer schema": lambda data: re.sub(rb'"schema_version": ?1', b'"schema_version": 999', data),
    "a schema that is text": lambda data: re.sub(rb'"schema_version": ?1', b'"schema_version": "one"', data),
    "a schema of ten thousand digits": lambda data: re.sub(
        rb'"schema_version": ?1', b'"schema_version": ' + b"9" * 10_000, data
    ),
    "deep nesting": lambda data: re.sub(
        rb'"schema_version": ?1', b'"schema_version": ' + b"[" * 100_000 + b"]" * 100_000, data
    ),
    "nothing but deep nesting": lambda _: b"[" * 100_000,
    "deep objects": lambda _: b'{"a":' * 100_000,
}
"""Corruptions of a JSON file with a schema version."""


def a_folder(path: Path) -> None:
    path.mkdir()


def a_folder_with_something(path: Path) -> None:
    path.mkdir()
    (path / "inside").touch()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    """A socket's path may be too long where tests run: made elsewhere, and moved."""
    short = Path("/tmp") / f"bench-test-{os.getpid()}.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(short))
    short.rename(path)


def a_link_to_nowhere(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def a_link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def an_endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def what_even_root_cannot_read(path: Path) -> None:
    path.symlink_to("/proc/self/mem")


def a_terabyte(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


PLACES: dict[str, Replace] = {
    "a folder": a_folder,
    "a folder with something in it": a_folder_with_something,
    "a pipe": a_pipe,
    "a socket": a_socket,
    "a link to nowhere": a_link_to_nowhere,
    "a link to itself": a_link_to_itself,
    "an endless device": an_endless_device,
    "what even root cannot read": what_even_root_cannot_read,
    "a terabyte": a_terabyte,
}
"""What may stand in a file's place."""


def corrupt(path: Path, how: Corrupt) -> None:
    path.write_bytes(how(path.read_bytes()))


def replace(path: Path, by: Replace) -> None:
    path.unlink()
    by(path)


@dataclass(frozen=True)
class Told:
    """What a command said: exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line of the error."""
        return self.err.removesuffix("\n")


def unclear(told: Told, *, names: Iterable[str] = (), lined: bool = False) -> str:
    """What is wrong with an error; empty: it is one clear line that names all that it must, and colours nothing."""
    if "Traceback" in told.err or "Traceback" in told.out:
        return "a traceback"
    if not told.line.startswith("bench: ") or "\n" in told.line:
        return "it is not one line of ours"
    if len(told.line) > 1200:
        return f"it has {len(told.line)} characters"
    if any(ord(character) < 32 or character in "\u202e\u2066" for character in told.line):
        return "it holds control characters"
    lacking = [name for name in names if name not in told.line]
    if lacking:
        return f"it does not name {lacking[0]}"
    if lined and re.search(r":\d+: ", told.line) is None:
        return "it names no line"
    return ""


def tree(top: Path) -> dict[str, str]:
    """Path → what stands there, so that whatever a command left behind is seen."""
    found = {}
    for path in sorted(top.rglob("*")):
        if path.is_symlink() or not path.is_file():
            found[str(path)] = "folder" if path.is_dir() and not path.is_symlink() else "special"
        elif path.stat().st_size > 1 << 30:
            found[str(path)] = str(path.stat().st_size)
        else:
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found

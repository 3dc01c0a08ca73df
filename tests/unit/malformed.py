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

_SCHEMA = b'"schema_version": '
_DEEP = b'"n":4,"arguments":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b","


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
    "a schema of ten thousand digits": lambda data: re.sub(rb'"schema_version": ?1', _SCHEMA + b"9" * 10_000, data),
    "deep nesting": lambda data: re.sub(rb'"schema_version": ?1', _SCHEMA + b"[" * 100_000 + b"]" * 100_000, data),
    "nothing but deep nesting": lambda _: b"[" * 100_000,
    "deep objects": lambda _: b'{"a":' * 100_000,
}
"""Corruptions of a JSON file with a schema version."""

EXPECTATIONS: dict[str, Corrupt] = {
    "one word": at_the_end(b"*.after-commit.*\n"),
    "three words": at_the_end(b"*.after-commit.* extra missing\n"),
    "a sentence": at_the_end(b"the framework retries and so it charges twice\n"),
    "a figure that is none": at_the_end(b"* extras\n"),
    "a verdict that is none": at_the_end(b"* violatd\n"),
    "columns in the wrong order": at_the_end(b"extra *.after-commit.*\n"),
    "JSON instead": lambda _: b'{"*": "extra"}\n',
    "CSV instead": lambda _: b"*.after-commit.*,extra\n",
    "a control character": at_the_end(b"* \x1b[31mextra\n"),
    "a right-to-left figure": at_the_end("* \u202eartxe\n".encode()),
    "a megabyte on one line": at_the_end(b"x " * (1 << 19) + b"\n"),
    "a megabyte in one word": at_the_end(b"* " + b"x" * (1 << 20) + b"\n"),
    "a comment sign in a word": at_the_end(b"*#extra extra\n"),
}

LINES: dict[str, Corrupt] = {
    "no JSON": lambda _: b"{not json}",
    "half a line": lambda line: line[: len(line) // 2],
    "two lines in one": lambda line: line + line,
    "a list": lambda _: b"[]",
    "null": lambda _: b"null",
    "an empty object": lambda _: b"{}",
    "a newer schema": lambda line: line.replace(b'"schema_version":1', b'"schema_version":2'),
    "a newer schema with fields of its own": lambda line: b'{"schema_version":2,"new":1}',
    "an unknown field": lambda line: line.replace(b"{", b'{"new":1,', 1),
    "a verdict that is none": lambda line: line.replace(b'"verdict":"', b'"verdict":"very-'),
    "a count that is text": lambda line: line.replace(b'"extra":', b'"extra":"many","x":'),
    "a count of ten thousand digits": lambda line: line.replace(b'"extra":', b'"extra":' + b"9" * 10_000),
    "infinity": lambda line: line.replace(b'"wall_s":0.0', b'"wall_s":1e999'),
    "deep nesting": lambda line: line.replace(b'"claims":{}', b'"claims":' + b"[" * 100_000 + b"]" * 100_000),
    "a NUL byte": lambda line: line.replace(b"charge", b"cha\0rge", 1),
    "invalid UTF-8": lambda line: line.replace(b"charge", b"cha\xff\xfe", 1),
    "a surrogate": lambda line: line.replace(b'"reason":""', b'"reason":"\\ud800"'),
    "a cell's name that is a path": lambda line: line.replace(b"charge-card.client-token.after-commit", b"../../etc/passwd"),
    "a cell's name that is none": lambda line: line.replace(b"charge-card.client-token.after-commit", b"x"),
    "UTF-16": lambda line: line.decode().encode("utf-16-le"),
}
"""Corruptions of the first line of ``cells.jsonl``."""

HISTORIES: dict[str, Corrupt] = {
    "nothing": lambda _: b"",
    "one line": lambda data: data.split(b"\n")[0] + b"\n",
    "no reading": lambda data: b"\n".join(data.rstrip().split(b"\n")[:-1]) + b"\n",
    "half of it": lambda data: data[: len(data) // 2],
    "no declaration": lambda data: data.partition(b"\n")[2],
    "an event that is none": lambda data: data.replace(b'"kind":"call"', b'"kind":"phone-call"'),
    "an event without a number": lambda data: data.replace(b'"n":4,', b""),
    "a number that is text": lambda data: data.replace(b'"n":4,', b'"n":"four",'),
    "a number of ten thousand digits": lambda data: data.replace(b'"n":4,', b'"n":' + b"4" * 10_000 + b","),
    "deep nesting": lambda data: data.replace(b'"n":4,', _DEEP),
    "an unknown field": lambda data: data.replace(b'"n":4,', b'"n":4,"new":1,'),
    "a blank line": lambda data: data.replace(b"\n", b"\n\n", 1),
    "an effect without a receipt": lambda data: data.replace(b'"receipt":"ch_1",', b""),
    "a boundary that is none": lambda data: data.replace(b'"boundary":"after-commit"', b'"boundary":"after-work"'),
    "another transport": lambda data: data.replace(b'"transport":"stdio"', b'"transport":"smoke"'),
}


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
        if "__pycache__" in path.parts:
            continue  # what Python keeps of an oracle that it read is nothing of ours
        if path.is_symlink() or not path.is_file():
            found[str(path)] = "folder" if path.is_dir() and not path.is_symlink() else "special"
        elif path.stat().st_size > 1 << 30:
            found[str(path)] = str(path.stat().st_size)
        else:
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


CELL = "charge-two.till.none.-.-.stdio.2025-11-25.first-once.-@1"
DRY = ("run", "--runtime", "agent", "--dry-run")
REAL = ("run", "--runtime", "agent")

ARGUMENTS: tuple[tuple[tuple[str, ...], str], ...] = (
    # commands
    (("nope",), "No such command 'nope'; see bench --help"),
    (("rnu",), "Did you mean 'run'?"),
    (("--verison",), "No such option: --verison"),
    (("list",), "Missing argument"),
    (("list", "workload"), "did you mean 'workloads'?"),
    (("list", "\x1b[31m"), "'\\x1b[31m' is not one of"),
    (("list", "workloads", "more"), "unexpected extra argument"),
    (("show",), "Missing argument 'run'; see bench show --help"),
    (("rescore",), "see bench rescore --help"),
    # runtimes
    (("run",), "give --runtime NAME or --runtime PATH; known: agent"),
    (("run", "--runtime"), "requires an argument"),
    (("run", "--runtime", ""), "the argument after --runtime is empty; is a shell variable not set?"),
    (("run", "--runtime", " "), "there is no runtime ' '; known: agent"),
    (("run", "--runtime", "agnet"), "did you mean 'agent'?"),
    (("run", "--runtime", "./nowhere"), "there is no runtime './nowhere'"),
    (("run", "--runtime", "a-file"), "there is no runtime 'a-file'"),
    (("run", "--runtime", "a-folder"), "a runtime's folder holds a runtime.toml"),
    (("run", "--runtime", "a-pipe"), "there is no runtime 'a-pipe'"),
    (("run", "--runtime", "a\0b"), "holds a NUL character"),
    (("run", "--runtime", "x" * 5000), "File name too long"),
    (("run", "--runtime", "/" + "x/" * 3000), "File name too long"),
    (("run", "--runtime", "\udcff"), "there is no runtime '\\udcff'"),
    (("run", "--runtime", "\x1b[31m\u202e"), "there is no runtime '\\x1b[31m\\u202e'"),
    # cells
    ((*DRY, "--workload", "charge-tow"), "did you mean 'charge-two'?"),
    ((*DRY, "--workload", "["), "known: charge-two"),
    ((*DRY, "--workload", ""), "the argument after --workload is empty"),
    ((*DRY, "--adapter", "tlil"), "did you mean 'till'?"),
    ((*DRY, "--boundary", "after-comit"), "did you mean 'after-commit'?"),
    ((*DRY, "--boundary", "77"), "--boundary 77: there is no such boundary"),
    ((*DRY, "--boundary", "9" * 30), "there is no such boundary"),
    ((*DRY, "--boundary", "\u0663"), "there is no such boundary"),
    ((*DRY, "--variant", "in-fligth"), "did you mean 'in-flight'?"),
    ((*DRY, "--manifestation", "rest"), "did you mean 'reset'?"),
    ((*DRY, "--transport", "smoke"), "known: http, stdio"),
    ((*DRY, "--protocol", "2024-11-05"), "did you mean '2025-11-25'?"),
    ((*DRY, "--strike", "first"), "did you mean 'first-once'?"),
    ((*DRY, "--strike", "second-once"), "there is no such strike"),
    ((*DRY, "--persona", "optimist"), "known: -, once, repair, retry"),
    ((*DRY, "--cell", "x"), "bench run --dry-run shows all"),
    ((*DRY, "--cell", CELL.replace("none", "nome")), f"did you mean '{CELL}'?"),
    ((*DRY, "--cell", CELL.replace("@1", "@0")), f"did you mean '{CELL}'?"),
    ((*DRY, "--cell", CELL.replace("charge-two", "../x")), "there is no such cell"),
    ((*DRY, "--cell", "." * 8), "there is no such cell"),
    ((*DRY, "--cell", "\x1b" * 3000), "there is no such cell"),
    # numbers
    ((*DRY, "--repeat", "0"), "'--repeat': should be greater than or equal to 1; see bench run --help"),
    ((*DRY, "--repeat", "-1"), "should be greater than or equal to 1"),
    ((*DRY, "--repeat", "1.5"), "should be a valid integer"),
    ((*DRY, "--repeat", "thrice"), "should be a valid integer"),
    ((*DRY, "--repeat", "1000000000"), "should be less than or equal to 1000"),
    ((*DRY, "--seed", "x"), "should be a valid integer"),
    ((*DRY, "--seed", "9" * 5000), "exceeded maximum size"),
    ((*DRY, "--jobs", "0"), "should be greater than or equal to 1"),
    ((*DRY, "--jobs", "many"), "should be a valid integer"),
    ((*DRY, "--jobs", "9" * 30), "should be less than or equal to 256"),
    # catalogues
    ((*DRY, "--catalog", "nowhere"), "needs at least one of the folders workloads, adapters, oracles"),
    ((*DRY, "--catalog", "a-file"), "no catalogue"),
    ((*DRY, "--catalog", "a-folder"), "no catalogue"),
    ((*DRY, "--catalog", "a-pipe"), "no catalogue"),
    ((*DRY, "--catalog", ""), "the argument after --catalog is empty"),
    ((*DRY, "--catalog", "x" * 300), "File name too long"),
    (("list", "workloads", "--catalog", "nowhere"), "no catalogue"),
    # gates
    ((*DRY, "--fail-on", "extras"), "did you mean 'extra'?"),
    ((*DRY, "--fail-on", "\u202e"), "neither a figure nor a verdict; known: extra"),
    ((*DRY, "--expect", "nowhere"), "nowhere: cannot be read: No such file or directory"),
    ((*DRY, "--expect", "a-folder"), "Is a directory; give a file"),
    ((*DRY, "--expect", "x" * 300), "File name too long"),
    ((*DRY, "--update-expect"), "give it with --expect FILE"),
    # results
    ((*REAL, "--out", "a-file"), "cannot make the run's folder: Not a directory"),
    ((*REAL, "--out", "a-file/below"), "cannot make the run's folder: Not a directory"),
    ((*REAL, "--out", "a-pipe"), "cannot make the run's folder"),
    ((*REAL, "--out", "/dev/null"), "cannot make the run's folder"),
    ((*REAL, "--out", "/proc/nowhere"), "cannot make the run's folder"),
    ((*REAL, "--out", ""), "the argument after --out is empty"),
    ((*REAL, "--out", "x" * 300), "File name too long"),
    (("run", "--resume", "nope"), "there is no run 'nope'"),
    (("run", "--resume", "a-folder"), "holds no run (no run.json); `bench run` makes one"),
    (("run", "--resume", "a-file"), "there is no run 'a-file'"),
    (("run", "--resume", "nope", "--quick"), "--quick cannot be given with --resume"),
    (("run", "--resume", "nope", "--out", "y"), "--out cannot be given with --resume"),
    (("show", "nope"), "`bench run --runtime NAME` makes one"),
    (("show", ""), "the argument after show is empty"),
    (("show", " "), "is no run's name"),
    (("show", "/"), "holds no run"),
    (("show", "a\0b"), "holds a NUL character"),
    (("show", "x" * 300), "File name too long"),
    (("show", "\udcff"), "there is no run '\\udcff'"),
    (("show", "nope", "a.cell"), "there is no run 'nope'"),
    (("rescore", "nope", "--check"), "there is no run 'nope'"),
    (("report", "nope"), "there is no run 'nope'"),
    (("report", "nope", "--cells", "some"), "is not one of 'auto'"),
    (("compare", "nope"), "a comparison needs two runs"),
    (("compare", "nope", "nada"), "there is no run 'nope'"),
    (("export", "nope", "--format", "xls"), "is not one of 'junit'"),
    (("export", "nope"), "Missing option '--format'"),
    (("publish", "nope"), "there is no run 'nope'"),
    # words
    (("explain", "after-comit"), "did you mean 'after-commit'?"),
    (("explain", "\x1b[31m"), "bench explain alone lists the words"),
    (("explain", "99"), "there is no word '99'"),
    (("explain", "a.b.c.d.e.f.g.h.i"), "is not a cell's name: nine parts joined with dots"),
    (("explain", CELL + "x"), "is not a cell's name"),
    (("explain", CELL, "--run", "nope"), "there is no run 'nope'"),
    (("explain", "nope", CELL, "--run", "nada"), "give one of them"),
    (("doctor", "--runtime", "agnet"), "did you mean 'agent'?"),
    (("doctor", "--jobs", "0"), "should be greater than or equal to 1; see bench doctor --help"),
    (("speed", "--cells", "0"), "should be greater than or equal to 1; see bench speed --help"),
    (("speed", "--jobs", "1000"), "see bench speed --help"),
    (("speed", "--runtime", "agnet"), "did you mean 'agent'?"),
    (("speed", "--runtime", "no-retry", "--report"), "give one of the two"),
)
"""Wrong command lines, and what the one line of the error says."""

ORACLES: dict[str, str] = {
    "a syntax error": "def read(:\n",
    "no read": "x = 1\n",
    "a read that is none": "read = 3\n",
    "an exception": "raise RuntimeError('no')\n",
    "an exit": "raise SystemExit(3)\n",
    "a missing import": "import no_such_module_at_all\n",
    "endless recursion": "def f():\n    f()\nf()\n",
    "an exception of many lines": "raise ValueError('a\\nb' * 1000)\n",
    "a NUL byte": "x = '\0'\n",
}
"""Oracles that cannot be loaded."""

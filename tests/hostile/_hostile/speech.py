"""Says something else than MCP, or does not listen, on a connection of its own; then does everything right on another:
``speech.py WHAT``."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "planted"))

from _planted.play import Task, run

PATIENCE_S = 2.0


def call(arguments: str, number: str = "7") -> bytes:
    """A ``tools/call`` of the tool ``charge``, arguments and id as they are to stand there."""
    return (
        b'{"jsonrpc":"2.0","method":"tools/call","id":' + number.encode() + b',"params":{"name":"charge","arguments":'
        b'{"order":' + arguments.encode() + b"}}}"
    )


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def odd() -> Iterator[bytes]:
    """Lines that are no MCP, or none that anybody sends."""
    yield bytes(range(11, 256)) * 100
    yield b"\xff\xfe{\x00}\x00"
    yield b'{"jsonrpc":"2.0","id":1,"method":"\xc3\x28"}'
    yield b'"text"'
    yield b"[]"
    yield b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled"}]'
    yield b"nul" * 1000
    yield b"{" * 1000
    for number in ("null", "true", "1.5", "-1", "[]", '{"a":1}', '""', '"\\ud800"', "1e999", "9" * 30, "9" * 5000):
        yield b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":' + number.encode() + b"}}"
        yield call('"1"', number)
        yield b'{"jsonrpc":"2.0","id":' + number.encode() + b',"result":{}}'
    for method in ("7", "null", "[]", "{}", '"\\ud800"', '"' + "m" * 10_000 + '"'):
        yield b'{"jsonrpc":"2.0","id":1,"method":' + method.encode() + b"}"
    for params in ("7", '"text"', "[1,2]", "null", '{"name":{},"arguments":[]}', '{"name":"charge","_meta":7}'):
        for method in ("tools/call", "initialize", "notifications/cancelled"):
            yield b'{"jsonrpc":"2.0","id":3,"method":"' + method.encode() + b'","params":' + params.encode() + b"}"
    for depth in (63, 100, 250, 900, 5_000, 100_000):
        yield call(nested(depth))
    for value in ("1e999", "-1e999", "9" * 4000, "9" * 100_000, "NaN", "Infinity", '"\\udfff"', '"\\u0000"'):
        yield call(value)


def huge() -> Iterator[bytes]:
    """One message of 100 MB, in pieces."""
    yield b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"filler":"'
    for _ in range(100):
        yield b"x" * 1_000_000
    yield b'"}}'


class Stdio:
    """A server launched as the task says."""

    def __init__(self, server: dict[str, Any], stdin: Any = subprocess.PIPE, stdout: Any = subprocess.PIPE) -> None:
        self.process = subprocess.Popen([server["command"], *server["args"]], stdin=stdin, stdout=stdout)

    def say(self, data: bytes) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def hear(self) -> None:
        """Read whatever comes, in a thread that ends with the program."""
        assert self.process.stdout is not None
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE_S)


def connected(url: str) -> socket.socket:
    where = urlsplit(url)
    return socket.create_connection((where.hostname or "", where.port or 0), timeout=PATIENCE_S)


def posted(url: str, *body: bytes, length: int | None = None, chunked: bool = False) -> socket.socket:
    """A connection with a POST on it, its answer not read; ``length``: what its head claims."""
    sender = connected(url)
    size = (
        "Transfer-Encoding: chunked" if chunked else f"Content-Length: {sum(map(len, body)) if length is None else length}"
    )
    head = (
        f"POST {urlsplit(url).path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\n{size}\r\n\r\n"
    )
    with suppress(OSError):
        sender.sendall(head.encode())
        for part in body:
            sender.sendall(part)
    return sender


def answered(sender: socket.socket) -> None:
    with suppress(OSError):
        sender.recv(1 << 16)
    sender.close()


def says_odd_things(server: dict[str, Any]) -> None:
    if server["transport"] == "stdio":
        wire = Stdio(server)
        wire.hear()
        for line in odd():
            wire.say(line + b"\n")
        wire.say(b'{"jsonrpc":"2.0","id":1,"meth')  # half a message, then nothing
        wire.hang_up()
        return
    for line in odd():
        answered(posted(server["url"], line))
    for half in (b'{"jsonrpc":"2.0","id":1,"meth', b""):
        posted(server["url"], half, length=1000).close()
    answered(posted(server["url"], b"not a chunk\r\n", chunked=True))
    answered(posted(server["url"], b"ffffffffffffffffffff\r\n", chunked=True))
    for text in (
        b"\x16\x03\x01 tls?\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"FOO /t/x/mcp HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\r\n" * 9,
    ):
        sender = connected(server["url"])
        sender.sendall(text)
        answered(sender)


def says_100_mb(server: dict[str, Any]) -> None:
    if server["transport"] == "stdio":
        wire = Stdio(server)
        wire.hear()
        for part in huge():
            wire.say(part)
        wire.hang_up()
        return
    answered(posted(server["url"], *huge()))
    answered(
        posted(server["url"], *(b"f4240\r\n" + part + b"\r\n" for part in huge() if len(part) == 1_000_000), chunked=True)
    )


def floods(server: dict[str, Any]) -> None:
    """As many messages, blank lines and connections as it can."""
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    if server["transport"] == "stdio":
        for line in (ping + b"\n", b"\n"):
            wire = Stdio(server)
            wire.hear()
            for _ in range(100):
                wire.say(line * 10_000)
            wire.hang_up()
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    idle = [connected(server["url"]) for _ in range(1000)]
    busy = [posted(server["url"], ping) for _ in range(200)]
    run()
    del idle, busy
    sys.exit()


def never_reads(server: dict[str, Any]) -> None:
    question = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
    if server["transport"] == "stdio":
        wire = Stdio(server)
        handshake = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        wire.say(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": handshake}).encode() + b"\n")
        wire.say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        wire.say((question + b"\n") * 3000)
        run()
        sys.exit()
    unread = [posted(server["url"], question) for _ in range(50)]
    run()
    del unread
    sys.exit()


def closes_at_once(server: dict[str, Any]) -> None:
    if server["transport"] == "stdio":
        Stdio(server).hang_up()
        wire = Stdio(server)
        assert wire.process.stdout is not None
        wire.process.stdout.close()
        wire.hang_up()
        return
    for _ in range(20):
        connected(server["url"]).close()


def launches_oddly(server: dict[str, Any]) -> None:
    """No pipes where a server has its pipes; and no launcher where one connects."""
    if server["transport"] == "http":
        return
    with Path(__file__).open("rb") as text, Path("/dev/null").open("r+b") as null:
        for stdin, stdout in ((text, subprocess.PIPE), (null, null), (subprocess.PIPE, text)):
            Stdio(server, stdin, stdout).process.wait(30)
    path = server["args"][-1]
    for say in (None, b"", b"stdio", b"x" * 100):
        wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        wire.connect(path)
        if say is None:
            socket.send_fds(wire, [b"stdio"], [0])
        else:
            wire.sendall(say)
            wire.close()


WAYS = {
    "says-odd-things": says_odd_things,
    "says-100-mb": says_100_mb,
    "floods": floods,
    "never-reads": never_reads,
    "closes-at-once": closes_at_once,
    "launches-oddly": launches_oddly,
}

if __name__ == "__main__":
    task = Task.load()
    if any(each.tool == "charge" for intent in task.intents for each in intent.calls):
        WAYS[sys.argv[1]](task.server)
    run()

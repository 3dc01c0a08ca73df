"""A small MCP client of the standard library: stdio and Streamable HTTP, revisions 2026-07-28 and 2025-11-25."""

from __future__ import annotations

import contextlib
import http.client
import json
import queue
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any, Protocol
from urllib.parse import urlsplit

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
CLIENT = {"name": "python-keyed-blind-retry", "version": "1"}
CONNECT_S = 6.0
CLOSE_S = 2.0

Json = dict[str, Any]


class Failure(Exception):
    """A request that did not succeed; ``gone``: the connection is of no further use."""

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


class Transport(Protocol):
    """One connection; ``revision`` is what was negotiated, None before."""

    revision: str | None

    def exchange(self, message: Json, timeout_s: float) -> Json: ...
    def notify(self, message: Json) -> None: ...
    def close(self) -> None: ...


class Session:
    """Requests over one transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._ids = 0

    def negotiate(self) -> None:
        """``server/discover``, then ``initialize`` where that is refused."""
        self._transport.revision = MODERN
        try:
            if MODERN in self.request("server/discover", {}, CONNECT_S).get("supportedVersions", ()):
                return
        except Failure as refusal:
            if refusal.gone:
                raise
        self._transport.revision = None
        hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}
        self._transport.revision = self.request("initialize", hello, CONNECT_S)["protocolVersion"]
        self._transport.notify({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: Json, timeout_s: float) -> Json:
        """The result; raises Failure."""
        self._ids += 1
        if self._transport.revision == MODERN:
            stamp = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": CLIENT,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            params = {**params, "_meta": {**params.get("_meta", {}), **stamp}}
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        answer = self._transport.exchange(message, timeout_s)
        if "error" in answer:
            raise Failure(f"{answer['error'].get('message')} ({answer['error'].get('code')})")
        result = answer.get("result")
        if not isinstance(result, dict) or result.get("resultType", "complete") != "complete":
            raise Failure("an answer that is no complete result")
        return result

    def close(self) -> None:
        self._transport.close()


class Stdio:
    """A child process; one thread reads its output."""

    def __init__(self, server: Json) -> None:
        self.revision: str | None = None
        try:
            self._child = subprocess.Popen(
                [server["command"], *server["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
            )
        except OSError as error:
            raise Failure(f"cannot start the server: {error}", gone=True) from None
        self._answers: queue.Queue[Json | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if "method" not in message:
                    self._answers.put(message)
                elif "id" in message:
                    refusal = {"code": -32601, "message": "Method not found"}
                    self.notify({"jsonrpc": "2.0", "id": message["id"], "error": refusal})
        self._answers.put(None)

    def exchange(self, message: Json, timeout_s: float) -> Json:
        self._write(message)
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                if message["method"] == "tools/call":
                    self.notify(cancelled(message["id"]))
                raise Failure(f"timed out after {timeout_s} s") from None
            if answer is None:
                self._answers.put(None)
                raise Failure("connection closed by the server", gone=True)
            if answer.get("id") == message["id"]:
                return answer

    def notify(self, message: Json) -> None:
        with contextlib.suppress(Failure):
            self._write(message)

    def _write(self, message: Json) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(message) + "\n")
            self._child.stdin.flush()
        except (OSError, ValueError) as error:
            raise Failure(f"connection closed: {error}", gone=True) from None

    def close(self) -> None:
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        for end in (self._child.terminate, self._child.kill):
            try:
                self._child.wait(CLOSE_S)
            except subprocess.TimeoutExpired:
                end()
            else:
                return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(CLOSE_S)


class Http:
    """Streamable HTTP, a fresh TCP connection for each exchange, with JSON or event-stream answers."""

    def __init__(self, server: Json) -> None:
        self._url = urlsplit(server["url"])
        self._session: str | None = None
        self.revision: str | None = None

    def exchange(self, message: Json, timeout_s: float) -> Json:
        deadline = time.monotonic() + timeout_s
        try:
            with contextlib.closing(self._send("POST", message, timeout_s)) as connection:
                return self._answer(connection, message, deadline)
        except TimeoutError:
            # In 2026-07-28 closing the stream, as above, is the cancel.
            if message["method"] == "tools/call" and self.revision != MODERN:
                self.notify(cancelled(message["id"]))
            raise Failure(f"timed out after {timeout_s} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise Failure(f"connection broken: {type(error).__name__}", gone=True) from None

    def _send(self, method: str, message: Json | None, timeout_s: float) -> http.client.HTTPConnection:
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        if self._session is not None:
            headers["Mcp-Session-Id"] = self._session
        if self.revision is not None:
            headers["Mcp-Protocol-Version"] = self.revision
        if self.revision == MODERN and message is not None:
            headers["Mcp-Method"] = message["method"]
            if message["method"] == "tools/call":
                headers["Mcp-Name"] = message["params"]["name"]
        connection = http.client.HTTPConnection(self._url.netloc, timeout=timeout_s)
        try:
            connection.request(method, self._url.path, None if message is None else json.dumps(message).encode(), headers)
        except BaseException:
            connection.close()
            raise
        return connection

    def _answer(self, connection: http.client.HTTPConnection, message: Json, deadline: float) -> Json:
        # The response detaches the socket once the connection is to be closed; the timeout must stay adjustable.
        socket = connection.sock
        response = connection.getresponse()
        kind = response.getheader("content-type", "")
        if response.status < 300 and message["method"] == "initialize":
            self._session = response.getheader("mcp-session-id")
        if response.status < 300 and kind.startswith("text/event-stream"):
            return first_answer(self._lines(response, socket, deadline), message["id"])
        if kind.startswith("application/json"):
            with contextlib.suppress(ValueError):
                answer = json.loads(response.read())
                if isinstance(answer, dict) and ("result" in answer or "error" in answer):
                    return answer
        gone = response.status == 404 and self._session is not None
        raise Failure(f"HTTP status {response.status}", gone=gone)

    @staticmethod
    def _lines(response: http.client.HTTPResponse, socket: Any, deadline: float) -> Iterator[str]:
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise TimeoutError
            socket.settimeout(remaining)
            line = response.readline()
            if not line:
                return
            yield line.decode().rstrip("\r\n")

    def notify(self, message: Json) -> None:
        """Notifications have no answer; one that cannot be sent is lost."""
        self._quietly("POST", message)

    def close(self) -> None:
        if self._session is not None:
            self._quietly("DELETE", None)

    def _quietly(self, method: str, message: Json | None) -> None:
        with (
            contextlib.suppress(OSError, http.client.HTTPException),
            contextlib.closing(self._send(method, message, CLOSE_S)) as connection,
        ):
            connection.getresponse()


def connect(server: Json) -> Session:
    """An open connection with its revision settled; raises Failure."""
    transport: Transport = Stdio(server) if server["transport"] == "stdio" else Http(server)
    session = Session(transport)
    try:
        session.negotiate()
    except (Failure, KeyError) as error:
        transport.close()
        raise Failure(f"no connection: {error}", gone=True) from None
    return session


def first_answer(lines: Iterator[str], request_id: int) -> Json:
    """The answer to a request in an event stream; a stream that ends before is a lost answer."""
    data: list[str] = []
    for line in lines:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            with contextlib.suppress(ValueError):
                message = json.loads("\n".join(data))
                if message.get("id") == request_id and "method" not in message:
                    return dict(message)
            data = []
    raise Failure("the stream ended without an answer", gone=True)


def cancelled(request_id: int) -> Json:
    params = {"requestId": request_id, "reason": "timed out"}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}

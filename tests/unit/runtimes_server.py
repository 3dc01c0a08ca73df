"""A scripted MCP server for tests of runtime programs: standard library only, so that it starts at once.

``python runtimes_server.py SCRIPT [PORT_FILE]``: over stdio, or with a port file over Streamable HTTP on a free port. The
script is JSON: ``{"log": FILE, "revision": REVISION, "sse": bool, "tools": [NAME], "steps": {TOOL: [STEP]}}``.
The n-th call of a tool in the log's whole life gets its n-th step, later ones are answered plainly. A step is
``{"commit": bool, "then": ENDING, "content": {...}}`` with an ending of ENDINGS. Every call is one line of the log.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ENDINGS = ("answer", "is-error", "rpc-error", "bad-result", "silence", "crash", "reset", "gone", "bad-gateway")
Message = dict[str, Any]


class Script:
    """The scripted behaviour and the log; a restarted server goes on where the last one ended."""

    def __init__(self, path: str) -> None:
        self._script = json.loads(Path(path).read_text())
        self._log = Path(self._script["log"])
        self._lock = threading.Lock()
        self.revision: str = self._script.get("revision", "2025-11-25")
        self.sse: bool = self._script.get("sse", False)

    def entries(self) -> list[Message]:
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []

    def call(self, message: Message) -> tuple[str, Message]:
        """(ending, result) of a tools/call; what commits is in the log before anything else happens."""
        params = message["params"]
        with self._lock:
            entries = self.entries()
            tool, arguments = params["name"], params.get("arguments") or {}
            steps = self._script["steps"].get(tool, [])
            nth = sum(1 for entry in entries if entry["tool"] == tool)
            step = steps[nth] if nth < len(steps) else {}
            commits = step.get("commit", not tool.startswith("find_"))
            receipt = f"r_{len(entries) + 1}" if commits else None
            entry = {
                "tool": tool,
                "arguments": arguments,
                "meta": params.get("_meta"),
                "id": message["id"],
                "receipt": receipt,
            }
            entry |= {
                "params": {name: value for name, value in params.items() if name not in ("name", "arguments", "_meta")}
            }
            entry |= {"pid": os.getpid(), "t": time.time()}
            with self._log.open("a") as log:
                log.write(json.dumps(entry) + "\n")
        content = step.get("content", {"receipt": receipt} if commits else found(entries, arguments))
        result = {"content": [{"type": "text", "text": json.dumps(content)}], "structuredContent": content}
        if step.get("then") == "is-error":
            result["isError"] = True
        if step.get("then") == "bad-result":
            result["structuredContent"] = {"receipt": 17}
        return step.get("then", "answer"), result

    def answer(self, message: Message) -> Message:
        """The answer to anything but a tools/call."""
        match message["method"]:
            case "server/discover" if self.revision != "2025-11-25":
                stamp = {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1"}}
                offer: Message = {"supportedVersions": [self.revision], "capabilities": {"tools": {}}, "_meta": stamp}
                return reply(message, offer | self.hints())
            case "initialize" if self.revision == "2025-11-25":
                info = {"name": "scripted", "version": "1"}
                return reply(message, {"protocolVersion": self.revision, "capabilities": {"tools": {}}, "serverInfo": info})
            case "tools/list":
                return reply(message, {"tools": [self.tool(name) for name in self._script["tools"]]} | self.hints())
            case _:
                return error(message, -32601, "Method not found")

    def hints(self) -> Message:
        return {} if self.revision == "2025-11-25" else {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

    @staticmethod
    def tool(name: str) -> Message:
        kind: Message = {"type": "object", "properties": {"receipt": {"type": "string"}}}
        return {"name": name, "inputSchema": {"type": "object"}, "outputSchema": kind}

    def settle(self, message: Message) -> tuple[str, Message | None]:
        """(ending, answer): None where the transport must do something else than answer."""
        if message["method"] != "tools/call":
            return "answer", self.answer(message)
        ending, result = self.call(message)
        if ending == "rpc-error":
            return ending, error(message, -32603, "Internal error")
        if ending in ("answer", "is-error", "bad-result"):
            extra = {} if self.revision == "2025-11-25" else {"resultType": "complete"}
            return ending, reply(message, result | extra)
        return ending, None


def found(entries: list[Message], arguments: Message) -> Message:
    """What a look-up lists: committed calls whose arguments contain these."""
    hits = [
        {"receipt": entry["receipt"], "reference": entry["arguments"].get("reference"), "arguments": entry["arguments"]}
        for entry in entries
        if entry["receipt"] and arguments.items() <= entry["arguments"].items()
    ]
    return {"found": hits}


def reply(message: Message, result: Message) -> Message:
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def error(message: Message, code: int, text: str) -> Message:
    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}}


def serve_stdio(script: Script) -> None:
    """Until end of file; ``crash`` is a SIGKILL of this process, ``silence`` no answer at all."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        ending, answer = script.settle(message)
        if ending == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


class Handler(BaseHTTPRequestHandler):
    """One exchange of Streamable HTTP; sessions only in 2025-11-25."""

    protocol_version = "HTTP/1.1"
    script: Script
    session = 0

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message:
            self._send(202, b"")
            return
        ending, answer = self.script.settle(message)
        if answer is not None:
            self._answer(message, answer)
        elif ending == "gone":
            self._send(404, b"")
        elif ending == "bad-gateway":
            self._send(502, b"")
        elif ending == "silence":
            time.sleep(30)
        else:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self._send(200, b"")

    def _answer(self, message: Message, answer: Message) -> None:
        if self.headers.get("mcp-session-id") is None and message["method"] == "tools/call" and Handler.session:
            self._send(400, b"")
            return
        headers = {"content-type": "application/json"}
        body = json.dumps(answer).encode()
        if self.script.sse:
            headers = {"content-type": "text/event-stream"}
            body = b": hello\n\nevent: message\ndata: " + body + b"\n\n"
        if message["method"] == "initialize" and "result" in answer:
            Handler.session += 1
            headers["mcp-session-id"] = f"session-{Handler.session}"
        self._send(200, body, headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Silent."""

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (OSError, ValueError):
            self.close_connection = True

    def finish(self) -> None:
        try:
            super().finish()
        except (OSError, ValueError):
            return


def serve_http(script: Script, port_file: str) -> None:
    """Until SIGTERM; the port is written to the file once the socket listens."""
    Handler.script = script
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    unfinished = Path(port_file + ".unfinished")
    unfinished.write_text(str(server.server_address[1]))
    unfinished.replace(port_file)
    server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve_stdio(Script(sys.argv[1]))
    else:
        serve_http(Script(sys.argv[1]), sys.argv[2])

"""The world in which tests drive tool adapters: the real provider, a proxy that can lose answers, stock MCP clients.

Tool servers are forked from one warm interpreter, as a sweep does; the proxy stands between each and the provider, counts
requests and applies faults.
"""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import anyio
import psutil
from mcp import Client, types
from mcp.server.stdio import stdio_server
from pydantic import ConfigDict

from benchmark.effects import Effect
from benchmark.entries import ToolAdapter

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "adapters/tools"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
STOCK = "archive-9101 archive-9102"
Result = dict[str, Any]
MODES = [("stdio", "legacy"), ("stdio", "auto"), ("http", "legacy"), ("http", "auto")]
CHARGE: Result = {"order": "1001", "amount": 10000, "currency": "usd"}
EXAMPLES: dict[str, Result] = {
    "append": {"path": "log/a.jsonl", "line": "x"},
    "charge": CHARGE,
    "create": {"name": "disk", "size": 10},
    "delete": {"name": "archive-9101"},
    "put": {"path": "a/b", "content": "x"},
    "refund": CHARGE,
    "send": {"recipients": ["a@x", "b@x"], "subject": "s", "body": "t"},
    "start": {"job": "render", "input": "scene"},
    "transfer": {"accounts": ["one", "two"], "amount": 75},
}

WARM = """
import json, os, runpy, signal, socket, sys
import uvicorn, benchmark.toolserver
control = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    data, fds, _, _ = socket.recv_fds(control, 65536, 2)
    if not data:
        break
    order = json.loads(data)
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        control.close()
        if order["transport"] == "stdio":
            os.dup2(fds[0], 0), os.dup2(fds[0], 1)
        else:
            order["listen_fd"] = fds[0]
        with open(order["file"], "w") as file:
            json.dump(order, file)
        os.environ["BENCH_TOOL"] = order["file"]
        runpy.run_path(order["program"], run_name="__main__")
        os._exit(0)
    for fd in fds:
        os.close(fd)
    control.send(str(pid).encode())
"""


def adapter_of(folder: Path) -> ToolAdapter:
    return ToolAdapter.model_validate(tomllib.loads((folder / "tool.toml").read_text()))


ADAPTERS = sorted(file.parent.name for file in TOOLS.glob("*/tool.toml") if adapter_of(file.parent).provider != "radicale")
"""Those in front of our own providers; the other one has a test file of its own."""


def oracle(kind: str, place: Path) -> list[Effect]:
    """What the oracle lists."""
    spec = importlib.util.spec_from_file_location(f"oracle_{kind}", ROOT / f"oracles/{kind}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: list[Effect] = module.read(place)
    return found


@dataclass
class Traffic:
    """What went upstream in one namespace, and what is to happen to the next mutating requests."""

    requests: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    held: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)


def read_json(body: bytes) -> Any:
    """The body as JSON; None where there is none, as bytes where it is something else."""
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body


class Proxy(ThreadingHTTPServer):
    """Forwards /NS/… to the provider; ``lose`` drops the answer, ``drop`` the request, ``hold`` waits, a number answers."""

    daemon_threads = True

    def __init__(self, provider: int) -> None:
        super().__init__(("127.0.0.1", 0), Forward)
        self.provider = provider
        self.traffic: dict[str, Traffic] = {}


class Forward(BaseHTTPRequestHandler):
    server: Proxy

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        traffic = self.server.traffic[self.path.split("/")[1]]
        traffic.requests.append((self.command, self.path, dict(self.headers), read_json(body)))
        fault = traffic.faults.pop(0) if traffic.faults else ""
        if fault == "hold":
            traffic.held.set()
            traffic.let_go.wait(20)
        status, answer = self.fault(fault) if fault.isdigit() else (0, b"")
        if fault not in ("drop", "502", "503"):
            status, answer = self.forward(body)
        if fault not in ("lose", "drop"):
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    do_GET = do_POST = do_PUT = handle_any  # noqa: N815

    @staticmethod
    def fault(status: str) -> tuple[int, bytes]:
        return int(status), b'{"code": "not_executed"}' if status == "503" else b"<html>bad gateway</html>"

    def forward(self, body: bytes) -> tuple[int, bytes]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.server.provider)) as upstream:
            upstream.request(
                self.command, self.path, body, {name: value for name, value in self.headers.items() if name != "Host"}
            )
            response = upstream.getresponse()
            return response.status, response.read()


@dataclass
class World:
    """Provider, proxy and warm interpreter of this module."""

    scratch: Path
    provider: int
    proxy: Proxy
    control: socket.socket
    kind: str = "ledger"
    count: int = 0

    def namespace(self, retention_s: float | None) -> str:
        self.count += 1
        name = f"ns{self.count}"
        self.proxy.traffic[name] = Traffic()
        with closing(http.client.HTTPConnection("127.0.0.1", self.provider)) as connection:
            if self.kind == "radicale":
                connection.request("MKCALENDAR", f"/{name}/")
                assert connection.getresponse().status == 201
                return name
            body = {"database": str(self.scratch / f"{name}.sqlite"), "retention_s": retention_s, "stock": STOCK}
            connection.request("PUT", f"/_namespaces/{name}", json.dumps(body))
            assert connection.getresponse().status == 201
        return name

    def store(self, namespace: str) -> Path:
        """What the instances of this namespace's server share."""
        folder = self.scratch / f"store-{namespace}"
        folder.mkdir(exist_ok=True)
        return folder

    def start(self, folder: Path, assignment: dict[str, Any], descriptor: int) -> int:
        """Forks a tool server; its pid."""
        self.count += 1
        order = {
            **assignment,
            "program": str(folder / "server.py"),
            "file": str(self.scratch / f"tool{self.count}.json"),
        }
        socket.send_fds(self.control, [json.dumps(order).encode()], [descriptor])
        return int(self.control.recv(32))


@contextmanager
def process(*arguments: str, pass_fds: tuple[int, ...] = (), cwd: Path = ROOT) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, *arguments], env=ENVIRONMENT, cwd=cwd, pass_fds=pass_fds) as started:
        try:
            yield started
        finally:
            started.terminate()


@contextmanager
def provider(name: str = "ledger", scratch: Path = ROOT) -> Iterator[int]:
    """Runs a provider as its ``provider.toml`` says; its port."""
    folder = ROOT / "adapters/providers" / name
    command = tomllib.loads((folder / "provider.toml").read_text())["command"]
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    with process(*(part.format(port=port, scratch=scratch) for part in command[1:]), cwd=folder):
        while True:
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
        yield port


@contextmanager
def running(scratch: Path, kind: str = "ledger") -> Iterator[World]:
    """Starts provider, proxy and warm interpreter; ends them."""
    ours, theirs = socket.socketpair()
    with (
        ours,
        theirs,
        process("-c", WARM, str(theirs.fileno()), pass_fds=(theirs.fileno(),)),
        provider(kind, scratch) as port,
        Proxy(port) as proxy,
    ):
        threading.Thread(target=proxy.serve_forever, args=(0.05,), daemon=True).start()
        yield World(scratch, port, proxy, ours, kind)
        proxy.shutdown()


class OpenParams(types.CallToolRequestParams):
    """Parameters of a call with fields that the SDK does not know."""

    model_config = ConfigDict(extra="allow")


class OpenCall(types.Request[OpenParams, Literal["tools/call"]]):
    method: Literal["tools/call"] = "tools/call"
    params: OpenParams


@dataclass
class Connected:
    """A client of one tool-server instance."""

    client: Client
    traffic: Traffic
    place: Path
    kind: str
    pid: int

    async def call(
        self, tool: str, meta: dict[str, Any] | None = None, params: dict[str, Any] | None = None, **arguments: Any
    ) -> Result:
        """Structured content, with ``isError``; the same as the text. ``params``: fields beside name and arguments."""
        if params is None:
            result = await self.client.call_tool(tool, arguments, meta=meta)  # type: ignore[arg-type]
        else:
            asked = OpenCall(params=OpenParams(name=tool, arguments=arguments, **params))
            result = await self.client.session.send_request(asked, types.CallToolResult)
        content: Result = result.structured_content
        assert json.loads(result.content[0].text) == content  # type: ignore[union-attr]
        told = {name: value for name, value in (result.meta or {}).items() if name.startswith("assay/")}
        return {**content, "isError": result.is_error, **told}

    def effects(self) -> list[Effect]:
        return oracle({"radicale": "caldav"}.get(self.kind, self.kind), self.place)

    def counted(self) -> int:
        return len(self.effects())

    async def ended(self) -> bool:
        """Whether the server's process ends soon."""
        return await soon(lambda: not psutil.pid_exists(self.pid))


async def soon(true: Callable[[], bool]) -> bool:
    """Whether something becomes true within five seconds."""
    for _ in range(500):
        if true():
            return True
        await asyncio.sleep(0.01)
    return False


@asynccontextmanager
async def over_socket(ours: socket.socket) -> AsyncIterator[Any]:
    """A client transport: the line protocol of stdio, on a socket."""
    with ours.makefile("r", encoding="utf-8") as incoming, ours.makefile("w", encoding="utf-8") as outgoing:
        async with stdio_server(anyio.wrap_file(incoming), anyio.wrap_file(outgoing)) as streams:
            try:
                yield streams
            finally:
                ours.shutdown(socket.SHUT_RDWR)


Connect = Callable[..., Awaitable[Connected]]


@asynccontextmanager
async def clients(world: World) -> AsyncIterator[Connect]:
    """``await connect(adapter, transport, mode, …)``: a fresh namespace, or ``beside`` another instance's."""
    async with AsyncExitStack() as stack:
        yield lambda *where, **how: connected(world, stack, *where, **how)


async def connected(
    world: World,
    stack: AsyncExitStack,
    name: str | Path,
    transport: str = "http",
    mode: str = "auto",
    *,
    retention_s: float | None = 60.0,
    beside: Connected | None = None,
    gate: str | None = None,
) -> Connected:
    folder = TOOLS / name
    kind = adapter_of(folder).provider
    if beside is not None:
        namespace, place = beside.place.stem, beside.place
    else:
        namespace = world.namespace(retention_s)
        places = {"files": namespace, "radicale": f"radicale/collection-root/{namespace}"}
        place = world.scratch / places.get(kind, f"{namespace}.sqlite")
    if kind == "files":
        place.mkdir(exist_ok=True)
    assignment = {
        "instance": "a",
        "transport": transport,
        "upstream": f"http://127.0.0.1:{world.proxy.server_port}/{namespace}",
        "gate": gate,
        "root": str(place),
        "store": str(world.store(namespace)),
        "retention_s": retention_s,
    }
    if transport == "stdio":
        ours, theirs = socket.socketpair()
        stack.callback(ours.close)
        pid = world.start(folder, assignment, theirs.fileno())
        theirs.close()
        client = Client(over_socket(ours), mode=mode)
    else:
        with closing(socket.create_server(("127.0.0.1", 0))) as listening:
            pid = world.start(folder, assignment, listening.fileno())
            client = Client(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", mode=mode)
        stack.callback(terminate, pid)
    await stack.enter_async_context(client)
    return Connected(client, world.proxy.traffic[namespace], place, kind, pid)


def terminate(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


def keyed(name: str, key: str) -> Result:
    """How a key is handed to the tools of an adapter: as keyword arguments of ``Connected.call``."""
    declared = next(tool.contract.key for tool in adapter_of(TOOLS / name).tools.values() if tool.contract is not None)
    assert declared is not None
    carried: Result = {declared.name: key}
    where: dict[str, Result] = {"meta": {"meta": carried}, "param": {"params": carried}, "argument": carried}
    return where[declared.carrier]


async def charge(tool: Connected, name: str, key: str, **changed: Any) -> Result:
    """Calls ``charge`` with a key, in the adapter's manner."""
    return await tool.call("charge", **{**CHARGE, **changed}, **keyed(name, key))

"""The warm interpreter: a single-threaded process that has imported the MCP SDK once and starts programs on order.

Run as ``python -m benchmark.zygote FD`` with one end of a Unix SEQPACKET socket pair. It makes the scratch folder, reads
orders (JSON, with descriptors), answers with the child's pid and a pidfd, and reports every exit. It forks programs from
itself, executes cold ones, or forks another warm interpreter, one for each cell: whatever a program starts and leaves
comes back to the interpreter that it was forked from. At end of file, that is when the benchmark is gone however it
died, it kills whatever is left below it; the first one removes the scratch folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmark import scratch

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
HIGH = 200
"""Descriptors from here on are only passing through; below, a program finds its places and nothing else."""
END_S = 5.0
"""The longest that a killed process may take to be gone."""

WARM = (
    "aiohttp.web",
    "benchmark.toolserver",
    "httpcore2",
    "jsonschema",
    "mcp.client.stdio",
    "mcp.client.streamable_http",
    "mcp.server.stdio",
    "sqlite3",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)
"""What a cell's programs import, also where they do so only on their way (the SDK's client: jsonschema)."""


def warm_up() -> None:
    """Import what every cell needs, and make one handshake and call in each protocol mode."""
    for name in WARM:
        importlib.import_module(name)

    import anyio
    import mcp_types as types
    from mcp import Client
    from mcp.server import Server

    schema = {"type": "object", "properties": {"text": {"type": "string"}}}

    async def listed(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema=schema, output_schema=schema)])

    async def called(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = types.TextContent(type="text", text="{}")
        return types.CallToolResult(content=[text], structured_content=dict(params.arguments or {}))

    async def rehearse(mode: str) -> None:
        server = Server("rehearsal", on_list_tools=listed, on_call_tool=called)
        server.streamable_http_app()
        async with Client(server, mode=mode) as client:
            await client.list_tools()
            await client.call_tool("echo", {"text": "once"}, read_timeout_seconds=5)

    for mode in ("legacy", "2026-07-28"):
        anyio.run(rehearse, mode)
    gc.collect()
    gc.freeze()


def control(option: int, value: int) -> None:
    """One of the kernel's process controls (Linux)."""
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


# --- in the child ------------------------------------------------------------------------------------------------


def settle(places: Sequence[int], descriptors: Sequence[int]) -> None:
    """Put the descriptors at their places and close all others, in two steps, so that none is overwritten too early."""
    lifted = [os.dup2(fd, HIGH + index) for index, fd in enumerate(descriptors)]
    for place, fd in zip(places, lifted, strict=True):
        os.dup2(fd, place, inheritable=True)
    os.closerange(max(3, *(place + 1 for place in places)), HIGH + len(lifted))


def warm(order: dict[str, Any]) -> None:
    """Run the order's program in this interpreter, as if it had been started with it."""
    os.environ.clear()
    os.environ.update(order["env"])
    program, *_ = sys.argv = order["argv"]
    sys.path[0] = str(Path(program).parent)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(0, closefd=False),
        os.fdopen(1, "w", closefd=False),
        os.fdopen(2, "w", closefd=False),
    )
    runpy.run_path(program, run_name="__main__")


def cold(order: dict[str, Any], failures: int) -> None:
    """Execute the order's program; why it cannot be is written to ``failures``."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # what this interpreter ignores, a fresh program does not
        signal.signal(number, signal.SIG_DFL)
    try:
        os.chdir(order["cwd"])
        os.execvpe(order["argv"][0], order["argv"], order["env"])
    except OSError as error:
        os.write(failures, f"{order['argv'][0]}: {error.strerror}".encode())


def become(order: dict[str, Any], descriptors: Sequence[int], failures: int) -> None:
    """Do in this forked process what was ordered; returns when that has come to its end."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    settle(order["places"], descriptors)
    if order["do"] != "exec":
        os.close(failures)
    if order["do"] == "serve":
        serve(socket.socket(fileno=order["places"][0]), "")
        return
    control(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if order["do"] == "exec":
        cold(order, failures)
        return
    os.chdir(order["cwd"])
    warm(order)


def child(order: dict[str, Any], descriptors: Sequence[int], failures: int) -> None:
    """Become what was ordered, and leave without the interpreter's teardown."""
    status = 1
    try:
        become(order, descriptors, failures)
        status = 0
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except BaseException:  # noqa: BLE001 - the last frame of a forked program: whatever it was is its log's
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(status)


# --- in the warm interpreter -------------------------------------------------------------------------------------


def tell(wire: socket.socket, descriptors: Sequence[int] = (), **said: Any) -> None:
    """One message to the benchmark; that it is gone is found out by reading."""
    with contextlib.suppress(ConnectionError):
        socket.send_fds(wire, [json.dumps(said).encode()], descriptors)


def start(wire: socket.socket, order: dict[str, Any], descriptors: Sequence[int], living: set[int]) -> None:
    """Carry out one order."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        failures = fcntl.fcntl(writing, fcntl.F_DUPFD_CLOEXEC, HIGH + len(descriptors))
        child(order, descriptors, failures)
    os.close(writing)
    # The pidfd is taken before the child can be reaped, and before anybody else can have its pid.
    pidfd = os.pidfd_open(pid)
    failure = os.read(reading, 4096) if order["do"] == "exec" else b""
    os.close(reading)
    if failure:
        os.waitpid(pid, 0)
        tell(wire, id=order["id"], failed=failure.decode(errors="replace"))
    else:
        living.add(pid)
        tell(wire, [pidfd], id=order["id"], pid=pid)
    os.close(pidfd)


def reap(wire: socket.socket, living: set[int]) -> bool:
    """Report every program that has ended; False if no child is left at all."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return True
            if pid in living:
                living.discard(pid)
                tell(wire, exited=pid, status=os.waitstatus_to_exitcode(status))
    return False


def end_all(wire: socket.socket, living: set[int]) -> None:
    """SIGKILL all descendants, those that their parents left as well, until there is none."""
    deadline = time.monotonic() + END_S
    while reap(wire, living) and time.monotonic() < deadline:
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(0.002)


def serve(wire: socket.socket, folder: str) -> None:
    """Start programs on order until the other end is gone; then leave nothing of them."""
    control(PR_SET_CHILD_SUBREAPER, 1)
    awake, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    living: set[int] = set()
    tell(wire, ready=os.getpid(), scratch=folder)
    while True:
        sources: list[socket.socket | int] = [wire, awake]
        ready, _, _ = select.select(sources, [], [])
        if awake in ready:
            os.read(awake, 4096)
            reap(wire, living)
        if wire not in ready:
            continue
        try:
            data, descriptors, _, _ = socket.recv_fds(wire, 1 << 20, 8)
        except ConnectionError:  # gone, with something of ours unread
            break
        if not data:
            break
        start(wire, json.loads(data), descriptors, living)
        for fd in descriptors:
            os.close(fd)
    end_all(wire, living)


def main() -> None:
    """Make the scratch folder, warm up, serve; Ctrl-C is the benchmark's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wire = socket.socket(fileno=int(sys.argv[1]))
    try:
        folder = scratch.make()
    except OSError as error:
        tell(wire, failed=f"no scratch folder can be made: {error.strerror}")
        return
    try:
        warm_up()
        serve(wire, str(folder))
    finally:
        scratch.remove(folder)


if __name__ == "__main__":
    main()

"""The warm interpreter: a single-threaded process that has imported the MCP SDK once and forks programs from it.

Run as ``python -m benchmark.zygote FD SCRATCH`` with one end of a Unix SEQPACKET socket pair. It reads orders (JSON, with
descriptors), answers with the child's pid and reports every exit. At end of file, that is when the benchmark is gone
however it died, it kills what it forked, removes the scratch folder and ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def die_with_parent() -> None:
    """Ask the kernel for SIGKILL when the parent dies (Linux)."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


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


def become(order: dict[str, Any], descriptors: list[int]) -> None:
    """In the child: take the descriptors' places, environment and folder of the order, and run its program."""
    die_with_parent()
    os.setsid()
    # Two steps, so that no source descriptor is overwritten before it is moved.
    lifted = [os.dup2(fd, 200 + index) for index, fd in enumerate(descriptors)]
    for target, fd in zip(order["places"], lifted, strict=True):
        os.dup2(fd, target, inheritable=True)
    os.closerange(max(3, *(place + 1 for place in order["places"])), 256)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    sys.argv = [order["program"], *order["args"]]
    sys.path[0] = str(Path(order["program"]).parent)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(0, closefd=False),
        os.fdopen(1, "w", closefd=False),
        os.fdopen(2, "w", closefd=False),
    )
    runpy.run_path(order["program"], run_name="__main__")


def child(order: dict[str, Any], descriptors: list[int]) -> None:
    """Run the order's program and leave without the interpreter's teardown."""
    status = 1
    try:
        become(order, descriptors)
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


def reap(wire: socket.socket, living: set[int]) -> None:
    """Report every child that has ended."""
    while living:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        living.discard(pid)
        wire.send(json.dumps({"exited": pid, "status": os.waitstatus_to_exitcode(status)}).encode())


def serve(wire: socket.socket, living: set[int]) -> None:
    """Fork on order until the other end is gone; what lives then stands in ``living``."""
    awake, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    wire.send(json.dumps({"ready": os.getpid()}).encode())
    while True:
        sources: list[socket.socket | int] = [wire, awake]
        ready, _, _ = select.select(sources, [], [])
        if awake in ready:
            os.read(awake, 4096)
            reap(wire, living)
        if wire not in ready:
            continue
        data, descriptors, _, _ = socket.recv_fds(wire, 1 << 20, 8)
        if not data:
            break
        order = json.loads(data)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            wire.close()
            child(order, descriptors)
        living.add(pid)
        for fd in descriptors:
            os.close(fd)
        # Opened here, where the child cannot be reaped yet: a pid that travels alone may be somebody else's on arrival.
        pidfd = os.pidfd_open(pid)
        socket.send_fds(wire, [json.dumps({"id": order["id"], "pid": pid}).encode()], [pidfd])
        os.close(pidfd)


def tidy(living: set[int], scratch: str) -> None:
    """The benchmark is gone: kill and reap what was forked, then remove the folder that it wrote to."""
    for pid in living:
        os.kill(pid, signal.SIGKILL)
    for pid in living:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    for _ in range(100):  # what was not forked here dies at the same moment, and may still have been writing
        shutil.rmtree(scratch, ignore_errors=True)
        if not os.path.lexists(scratch):
            return
        time.sleep(0.05)


def main() -> None:
    """Warm up, then serve; Ctrl-C is the benchmark's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.setsid()
    wire, scratch = socket.socket(fileno=int(sys.argv[1])), sys.argv[2]
    living: set[int] = set()
    warm_up()
    # Gone may show as an end of file, or as a pipe that broke while a child's exit was to be reported.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        serve(wire, living)
    tidy(living, scratch)


if __name__ == "__main__":
    main()

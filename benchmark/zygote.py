"""The warm interpreter: a single-threaded process that has done its imports once and starts programs on order.

Run as ``python -m benchmark.zygote FD`` with one end of a Unix SEQPACKET socket pair, it has imported the MCP SDK and makes
the scratch folder. Run as a file by the interpreter of another environment, ``python -I zygote.py FD PROGRAM ARGUMENT…``, it
has imported that program, and nothing of the benchmark: outside of two functions it is standard library only.

It reads orders (JSON, with descriptors), answers with the child's pid and a pidfd, and reports every exit. It forks programs
from itself, executes cold ones, or forks another warm interpreter, one for each cell: whatever a program starts and leaves
comes back to the interpreter that it was forked from. At end of file, that is when the benchmark is gone however it
died, it kills whatever is left below it; the first one removes the scratch folder.
"""

from __future__ import annotations

import ast
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
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

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

Start = Callable[[dict[str, Any]], None]
"""Runs an ordered program in a fork."""


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


class Unforkable(Exception):
    """A program that can be started cold, but not be forked from an interpreter that has imported it."""


class Imported:
    """A program whose top level has run in this interpreter, as ``__main__``; what is left to run is its last statement.

    That is its ``if __name__ == "__main__":``. So everything is executed once, as if it had been started cold, and what
    the program defines is where pickles, dataclasses and registries look for it.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        """Runs the top level; raises Unforkable, and whatever the program raises."""
        place = argv[0]
        top, last = _halves(Path(place).read_bytes(), place)
        sys.argv = list(argv)
        sys.path.insert(0, str(Path(place).parent))
        self._environment = dict(os.environ)
        self._namespace = vars(self._stand_for_main(place))
        self._last = last
        exec(top, self._namespace)
        threads = list(Path("/proc/self/task").iterdir())
        if len(threads) > 1:
            named = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
            raise Unforkable(f"its imports start threads ({', '.join(named) or f'{len(threads) - 1} of a library'})")
        sys.stdout.flush()  # what is still unsaid would be said by every fork
        gc.collect()
        gc.freeze()

    def _stand_for_main(self, place: str) -> types.ModuleType:
        module = types.ModuleType("__main__")
        module.__file__ = place
        self._ours = sys.modules["__main__"]  # else its globals, which are ours, would go with it
        sys.modules["__main__"] = module
        return module

    def run(self, order: dict[str, Any]) -> None:
        """Run the rest in this fork. Variables that the program has set at import stay, and only what is new is added."""
        added = order["env"].items() - self._environment.items()
        os.environ.update(dict(added))
        exec(self._last, self._namespace)


def _halves(source: bytes, place: str) -> tuple[types.CodeType, types.CodeType]:
    """A program before its last statement, and that statement; raises Unforkable unless it is the usual guard."""
    tree = ast.parse(source, place)
    guard = tree.body[-1] if tree.body else None
    if not (isinstance(guard, ast.If) and ast.unparse(guard.test) == "__name__ == '__main__'"):
        raise Unforkable('it does not end with `if __name__ == "__main__":`')
    top, last = ast.Module(tree.body[:-1], tree.type_ignores), ast.Module([guard], [])
    return compile(top, place, "exec", dont_inherit=True), compile(last, place, "exec", dont_inherit=True)


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


def become(order: dict[str, Any], descriptors: Sequence[int], failures: int, program: Start) -> None:
    """Do in this forked process what was ordered; returns when that has come to its end."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    settle(order["places"], descriptors)
    if order["do"] != "exec":
        os.close(failures)
    if order["do"] == "serve":
        serve(socket.socket(fileno=order["places"][0]), "", program)
        return
    control(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if order["do"] == "exec":
        cold(order, failures)
        return
    os.chdir(order["cwd"])
    program(order)


def child(order: dict[str, Any], descriptors: Sequence[int], failures: int, program: Start) -> None:
    """Become what was ordered, and leave without the interpreter's teardown."""
    status = 1
    try:
        become(order, descriptors, failures, program)
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


def start(wire: socket.socket, order: dict[str, Any], descriptors: Sequence[int], living: set[int], program: Start) -> None:
    """Carry out one order."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        failures = fcntl.fcntl(writing, fcntl.F_DUPFD_CLOEXEC, HIGH + len(descriptors))
        child(order, descriptors, failures, program)
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
        for pid, began in list(descendants(os.getpid())):
            kill(pid, began)
        time.sleep(0.002)


def descendants(pid: int) -> Iterator[tuple[int, str]]:
    """All processes below one, each with the mark that tells it from a later one of the same number."""
    below: dict[int, list[tuple[int, str]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (told := _stat(int(entry.name))):
            below.setdefault(int(told[1]), []).append((int(entry.name), told[19]))
    found = [(pid, "")]
    for parent, _ in found:
        found += below.get(parent, ())
    yield from found[1:]


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the program's name: state, parent, …, start time; empty: it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return []


def kill(pid: int, began: str) -> None:
    """SIGKILL this process, and never another one that has its number by now."""
    with contextlib.suppress(OSError):
        held = os.pidfd_open(pid)
        if _stat(pid)[19:20] == [began]:
            signal.pidfd_send_signal(held, signal.SIGKILL)
        os.close(held)


def serve(wire: socket.socket, folder: str, program: Start) -> None:
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
        start(wire, json.loads(data), descriptors, living, program)
        for fd in descriptors:
            os.close(fd)
    end_all(wire, living)


def trunk(wire: socket.socket) -> None:
    """The benchmark's own interpreter: make the scratch folder, warm up, serve."""
    from benchmark import scratch

    try:
        folder = scratch.make()
    except OSError as error:
        tell(wire, failed=f"no scratch folder can be made: {error.strerror}")
        return
    try:
        warm_up()
        serve(wire, str(folder), warm)
    finally:
        scratch.remove(folder)


def foreign(wire: socket.socket, argv: Sequence[str]) -> None:
    """An interpreter of another environment: import the program, serve."""
    try:
        program = Imported(argv)
    except Unforkable as error:
        tell(wire, failed=str(error), cold=True)
    except BaseException:  # noqa: BLE001 - also a program that leaves while it is imported
        traceback.print_exc()
        sys.stderr.flush()
        tell(wire, failed="the runtime's program cannot be imported")
    else:
        serve(wire, "", program.run)


def main() -> None:
    """Be warm, then serve until the benchmark is gone; Ctrl-C is its to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    number, *argv = sys.argv[1:]
    wire = socket.socket(fileno=int(number))
    wire.set_inheritable(False)
    if argv:
        foreign(wire, argv)
    else:
        trunk(wire)


if __name__ == "__main__":
    main()

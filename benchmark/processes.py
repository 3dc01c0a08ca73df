"""Starting programs (forked from the warm interpreter, or cold) and ending them by a verified pid."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil

from benchmark import zygote
from benchmark.errors import HarnessError


@dataclass
class Program:
    """What to run: argv, environment, folder, and the descriptors it inherits (place → ours)."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: Path
    places: dict[int, int] = field(default_factory=dict)

    @property
    def order(self) -> dict[str, Any]:
        """All but the descriptors, as the warm interpreter is told."""
        return {"argv": self.argv, "env": self.env, "cwd": str(self.cwd), "places": list(self.places)}


class UnforkableError(HarnessError):
    """A program cannot be forked from an interpreter that has imported it, but can be started cold."""


ZYGOTE = str(Path(zygote.__file__).resolve())

WARM_S = 60.0
IMPORTED_S = 180.0
ANSWER_S = 30.0
GONE_S = 5.0
"""Deadlines: for the warm interpreter to be warm, for one to have imported a runtime's program, for its answer to an
order, for a killed process to be gone."""


class Child:
    """A running process of ours, held by a pidfd, so that a signal can never hit a recycled pid."""

    def __init__(self, pid: int, pidfd: int) -> None:
        self.pid = pid
        self.status: int | None = None
        self.ended = asyncio.Event()
        self._pidfd = pidfd

    def over(self, status: int) -> None:
        """Called by the owner once, with the exit status (negative: signal)."""
        self.status = status
        os.close(self._pidfd)
        self._pidfd = -1
        self.ended.set()

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal; False if the process had already ended."""
        if self._pidfd < 0:
            return False
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)
            return True
        return False

    async def wait(self, within_s: float) -> bool:
        """Whether it ended within the time."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.ended.wait(), within_s)
        return self.ended.is_set()

    async def stop_tree(self, within_s: float = 2.0) -> None:
        """SIGSTOP the process and all its descendants; raises HarnessError unless it stands still."""
        self.signal(signal.SIGSTOP)
        self._signal_family(signal.SIGSTOP)
        deadline = asyncio.get_running_loop().time() + within_s
        while not self._stands_still():
            if asyncio.get_running_loop().time() > deadline:
                raise HarnessError(f"process {self.pid} did not stop")
            await asyncio.sleep(0.002)

    def continue_tree(self) -> None:
        """SIGCONT the process and all its descendants."""
        self._signal_family(signal.SIGCONT)
        self.signal(signal.SIGCONT)

    def _stands_still(self) -> bool:
        try:
            return psutil.Process(self.pid).status() == psutil.STATUS_STOPPED
        except psutil.NoSuchProcess:
            raise HarnessError(f"process {self.pid} had ended before it was to be stopped") from None

    def _signal_family(self, number: int) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self.pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.send_signal(number)

    async def kill_tree(self) -> None:
        """SIGKILL the process and all its descendants. Stopped first, so that none is born meanwhile."""
        if self.signal(signal.SIGSTOP):  # else its pid may be somebody else's by now, and what it left came to the forge
            _kill_below(self.pid)
            self.signal(signal.SIGKILL)
        await self.wait(GONE_S)


class Forge:
    """Starts programs below a warm interpreter: ``fork`` from it, ``spawn`` as cold processes.

    What a program starts and leaves comes back to the interpreter that the program was started by. So a cell with a
    ``branch`` of its own can end everything that its programs ever started, and nothing else.
    """

    def __init__(self) -> None:
        self.scratch = Path()
        self._children: dict[int, Child] = {}
        self._orders: dict[int, asyncio.Future[Child]] = {}
        self._counter = 0
        self._ready = asyncio.Event()
        self._failure: HarnessError | None = None
        self._zygote: Child | None = None
        self._wire: socket.socket | None = None

    async def start(self, output: int) -> None:
        """Start the warm interpreter, which prints to ``output``, and wait until it is warm; raises HarnessError."""
        theirs = self._open()
        process = subprocess.Popen(  # noqa: ASYNC220 - once per sweep, before any cell
            [sys.executable, "-m", "benchmark.zygote", str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # a Ctrl-C is not for it
        )
        theirs.close()
        child = self._zygote = Child(process.pid, os.pidfd_open(process.pid))
        watch = os.pidfd_open(process.pid)
        loop = asyncio.get_running_loop()

        def reaped() -> None:
            loop.remove_reader(watch)
            os.close(watch)
            child.over(process.wait())

        loop.add_reader(watch, reaped)
        await self._warm(WARM_S)

    async def branch(self, trunk: Forge) -> None:
        """Be a fork of another forge's warm interpreter; raises HarnessError."""
        theirs = self._open()
        try:
            self._zygote = await trunk.order({"do": "serve", "places": [3]}, [theirs.fileno()])
        finally:
            theirs.close()
        await self._warm(ANSWER_S)

    async def imported(self, trunk: Forge, program: Program) -> None:
        """Be an interpreter of another environment, below ``trunk``, that has imported a program of that environment.

        ``program`` is how it would be started cold. Raises UnforkableError, or HarnessError where it cannot be imported.
        """
        theirs = self._open()
        python, *argv = program.argv
        begin = (python, "-I", ZYGOTE, "3", *argv)
        try:
            self._zygote = await trunk.spawn(
                Program(begin, program.env, program.cwd, {**program.places, 3: theirs.fileno()})
            )
        finally:
            theirs.close()
        await self._warm(IMPORTED_S)

    def _open(self) -> socket.socket:
        """Make the wire to an interpreter to be; returns its end of it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        self._wire = ours
        asyncio.get_running_loop().add_reader(ours, self._hear)
        return theirs

    async def _warm(self, within_s: float) -> None:
        try:
            await asyncio.wait_for(self._ready.wait(), within_s)
        except TimeoutError:
            raise HarnessError(f"the warm interpreter did not start within {within_s} s") from None
        if self._failure is not None:
            raise self._failure

    def _hear(self) -> None:
        while self._wire is not None:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._wire, 1 << 16, 1)
            except BlockingIOError:
                return
            except OSError:
                data, descriptors = b"", []
            if not data:
                self._gone(HarnessError("the warm interpreter died"))
                return
            self._understand(json.loads(data), descriptors)

    def _understand(self, said: dict[str, Any], descriptors: list[int]) -> None:
        if "ready" in said:
            self.scratch = Path(said["scratch"])
            self._ready.set()
        elif "exited" in said:
            self._children.pop(said["exited"]).over(said["status"])
        elif "id" not in said:
            self._gone((UnforkableError if "cold" in said else HarnessError)(said["failed"]))
        else:
            order = self._orders.pop(said["id"])
            if "failed" in said:
                if not order.done():
                    order.set_exception(HarnessError(f"cannot be started: {said['failed']}"))
                return
            child = self._children[said["pid"]] = Child(said["pid"], descriptors[0])
            if not order.done():
                order.set_result(child)

    def _gone(self, error: HarnessError) -> None:
        """Nothing more will be heard from the interpreter, and what it started died with it."""
        self._hang_up()
        self._failure = error
        self._ready.set()
        for order in self._orders.values():
            if not order.done():
                order.set_exception(error)
        self._orders.clear()
        for child in self._children.values():
            child.over(-signal.SIGKILL)
        self._children.clear()

    def _hang_up(self) -> None:
        if self._wire is not None:
            asyncio.get_running_loop().remove_reader(self._wire)
            self._wire.close()
            self._wire = None

    async def order(self, order: dict[str, Any], descriptors: Sequence[int]) -> Child:
        """Have something started; raises HarnessError."""
        if self._wire is None:
            raise self._failure or HarnessError("no warm interpreter to start from")
        self._counter += 1
        future: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
        self._orders[self._counter] = future
        try:
            socket.send_fds(self._wire, [json.dumps({"id": self._counter, **order}).encode()], list(descriptors))
            return await asyncio.wait_for(future, ANSWER_S)
        except ConnectionError:
            raise HarnessError("the warm interpreter died") from None
        except TimeoutError:
            raise HarnessError(f"the warm interpreter did not answer within {ANSWER_S} s") from None

    async def fork(self, program: Program) -> Child:
        """Fork a Python program (argv[0] is the program file) from the warm interpreter, in a session of its own."""
        return await self.order({"do": "fork", **program.order}, tuple(program.places.values()))

    async def start_program(self, program: Program, python: str, *, warm: bool) -> Child:
        """Fork a program of this interpreter (``python``) where ``warm``, else spawn it."""
        if not warm or program.argv[0] != python:
            return await self.spawn(program)
        file = str((program.cwd / program.argv[1]).resolve())
        return await self.fork(replace(program, argv=(file, *program.argv[2:])))

    async def spawn(self, program: Program) -> Child:
        """Start a cold process, in a session of its own."""
        return await self.order({"do": "exec", **program.order}, tuple(program.places.values()))

    async def kill_disowned(self) -> None:
        """SIGKILL what programs started and left. Of what still runs, only descendants of living programs stay."""
        deadline = time.monotonic() + ANSWER_S  # an order may be open, and is waited for
        while self._orders or (disowned := self._disowned()):
            if time.monotonic() > deadline:
                raise HarnessError("processes that a program left behind could not be killed")
            if not self._orders:
                for pid in disowned:
                    _kill_below(pid)
                    _kill(pid)
            await asyncio.sleep(0.002)

    def _disowned(self) -> list[int]:
        """Children of the interpreter that it did not start: while no order is open, all that it started are known."""
        if self._wire is None or self._zygote is None:
            return []
        with contextlib.suppress(psutil.NoSuchProcess):
            return [pid for pid in _children(self._zygote.pid) if pid not in self._children]
        return []

    async def stop(self) -> None:
        """End the interpreter, and with it whatever was ever started below it."""
        self._hang_up()
        if self._zygote is not None and not await self._zygote.wait(2 * GONE_S):
            await self._zygote.kill_tree()
        self._gone(HarnessError("the warm interpreter was stopped"))


def _children(pid: int) -> list[int]:
    """The children of a process with one thread; raises psutil.NoSuchProcess."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):  # it has ended, or its kernel was built without this file
        return [child.pid for child in psutil.Process(pid).children()]


def _kill_below(pid: int) -> None:
    """SIGKILL all descendants of a process."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def _kill(pid: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(pid).kill()


def environment(extra: dict[str, str]) -> dict[str, str]:
    """The environment of a program under test: a user's; of ours only ``extra``, and what makes it cheap to start.

    Nothing here speaks TLS, but HTTP clients read some hundred certificates when they are made (22 ms of CPU each time);
    where OpenSSL has its folder of them, named as the place to look, they read those that they need: none. Who imports NumPy
    starts OpenBLAS's threads, and cannot be forked then; with one thread in all there are none to start.
    """
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "VIRTUAL_ENV")
    own = {name: os.environ[name] for name in kept if name in os.environ}
    cheap = {"SSL_CERT_DIR": ssl.get_default_verify_paths().openssl_capath, "OPENBLAS_NUM_THREADS": "1"}
    return own | cheap | extra


def fill(command: Sequence[str], **values: str) -> tuple[str, ...]:
    """A command with its ``{placeholders}`` filled in; other braces stay."""
    return tuple(re.sub(r"\{([\w.-]+)\}", lambda found: values.get(found[1], found[0]), part) for part in command)

"""Starting programs (forked from the warm interpreter, or cold) and ending them by a verified pid."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

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

    async def kill_tree(self) -> list[int]:
        """SIGKILL the process and all its descendants; returns the pids. Stopped first, so that none is born meanwhile."""
        self.signal(signal.SIGSTOP)
        victims = [self.pid]
        with contextlib.suppress(psutil.NoSuchProcess):
            family = psutil.Process(self.pid).children(recursive=True)
            victims += [process.pid for process in family]
            for process in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        self.signal(signal.SIGKILL)
        await self.wait(5.0)
        return victims


class Forge:
    """Starts children: ``fork`` from the zygote, ``spawn`` as a cold process."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._children: dict[int, Child] = {}
        self._orders: dict[int, asyncio.Future[Child]] = {}
        self._counter = 0
        self._ready = asyncio.Event()
        self._zygote: subprocess.Popen[bytes] | None = None
        self._wire: socket.socket | None = None

    async def start(self, log: Path, within_s: float = 60.0) -> None:
        """Start the zygote and wait until it is warm; raises HarnessError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with log.open("wb") as sink:
            self._zygote = subprocess.Popen(  # noqa: ASYNC220 - once per sweep, before any cell
                [sys.executable, "-m", "benchmark.zygote", str(theirs.fileno()), str(self._scratch)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
            )
        theirs.close()
        ours.setblocking(False)
        self._wire = ours
        asyncio.get_running_loop().add_reader(ours, self._hear)
        try:
            await asyncio.wait_for(self._ready.wait(), within_s)
        except TimeoutError:
            raise HarnessError(f"the warm interpreter did not start within {within_s} s; see {log}") from None

    def _hear(self) -> None:
        assert self._wire is not None
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._wire, 1 << 16, 1)
            except BlockingIOError:
                return
            except OSError:
                data, descriptors = b"", []
            if not data:
                self._zygote_gone()
                return
            said = json.loads(data)
            if "ready" in said:
                self._ready.set()
            elif "exited" in said:
                self._children.pop(said["exited"]).over(said["status"])
            else:
                child = self._children[said["pid"]] = Child(said["pid"], descriptors[0])
                order = self._orders.pop(said["id"])
                if order.cancelled():
                    child.signal(signal.SIGKILL)  # whoever ordered it is gone
                else:
                    order.set_result(child)

    def _zygote_gone(self) -> None:
        assert self._wire is not None
        asyncio.get_running_loop().remove_reader(self._wire)
        for order in self._orders.values():
            if not order.done():
                order.set_exception(HarnessError("the warm interpreter died"))
        for child in self._children.values():
            child.over(-signal.SIGKILL)
        self._children.clear()

    async def fork(self, program: Program) -> Child:
        """Fork a Python program (argv[0] is the program file) from the warm interpreter."""
        if self._wire is None:
            raise HarnessError("no warm interpreter to fork from")
        self._counter += 1
        order = {
            "id": self._counter,
            "program": program.argv[0],
            "args": list(program.argv[1:]),
            "env": program.env,
            "cwd": str(program.cwd),
            "places": list(program.places),
        }
        future: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
        self._orders[self._counter] = future
        socket.send_fds(self._wire, [json.dumps(order).encode()], list(program.places.values()))
        return await asyncio.wait_for(future, 30.0)

    async def spawn(self, program: Program) -> Child:
        """Start a cold process in a session of its own."""
        places = dict(program.places)

        def arrange() -> None:
            zygote.die_with_parent()
            lifted = [os.dup2(fd, 200 + index) for index, fd in enumerate(places.values())]
            for place, fd in zip(places, lifted, strict=True):
                os.dup2(fd, place, inheritable=True)
            os.closerange(max(3, *(place + 1 for place in places)), 256)

        process = subprocess.Popen(  # noqa: ASYNC220 - the conductor has one thread; starting takes milliseconds
            list(program.argv),
            env=program.env,
            cwd=program.cwd,
            close_fds=False,
            preexec_fn=arrange,  # noqa: PLW1509 - the conductor has one thread
            start_new_session=True,
        )
        child = Child(process.pid, os.pidfd_open(process.pid))
        loop = asyncio.get_running_loop()
        watch = os.pidfd_open(process.pid)

        def reaped() -> None:
            loop.remove_reader(watch)
            os.close(watch)
            child.over(process.wait())

        loop.add_reader(watch, reaped)
        return child

    async def stop(self) -> None:
        """End the zygote and with it whatever it forked."""
        if self._wire is not None:
            asyncio.get_running_loop().remove_reader(self._wire)
            self._wire.close()
            self._wire = None
        if self._zygote is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self._zygote.wait, 5.0)
            self._zygote.kill()
            self._zygote.wait()


def environment(extra: dict[str, str]) -> dict[str, str]:
    """The environment of a program under test: a user's, without anything of ours but ``extra``."""
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "VIRTUAL_ENV")
    return {name: os.environ[name] for name in kept if name in os.environ} | extra


def fill(command: Sequence[str], **values: str) -> tuple[str, ...]:
    """A command with its ``{placeholders}`` filled in; other braces stay."""
    return tuple(re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), part) for part in command)

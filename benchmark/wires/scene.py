"""What the wires of one cell share: notebook, traffic, fault, the tool-server instances, and who is alive."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import signal
import socket
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmark.boundaries import Variant
from benchmark.cells import Cell
from benchmark.contracts import Contract
from benchmark.entries import Provider, ToolAdapter
from benchmark.errors import HarnessError
from benchmark.history import Kind
from benchmark.output import Output
from benchmark.processes import Child, Forge, Program, environment, fill
from benchmark.recorder import Recorder
from benchmark.wires.traffic import Traffic

KILL_TIMEOUT_S = 3.0
LAUNCHER_GRACE_S = 2.0
MOST_SAID = 1 << 23
MESSAGE_COST = 1 << 11
"""What a runtime may say in one cell: bytes, and how many of them each message counts for besides its own. A flood is cut
off before it fills our memory or keeps the other cells waiting; nobody with something to say comes near."""
NAMES = "abcdefghijklmnopqrstuvwxyz"


@dataclass(eq=False)
class Instance:
    """One life of the tool server."""

    name: str
    child: Child
    url: str = ""
    """HTTP: where it listens; stdio: empty."""
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """stdio: the last holder of its stdout is gone."""

    async def silent(self) -> None:
        """Wait until nobody answers for this instance any longer."""
        if not self.url:
            await self.hung_up.wait()
            return
        address = urlsplit(self.url)
        while True:
            try:
                _, writer = await asyncio.open_connection(address.hostname, address.port)
            except ConnectionError:
                return
            writer.close()
            await asyncio.sleep(0.01)


@dataclass(eq=False)
class Scene:
    """One cell's stage. The wires act on it; the fault decides; the conductor opens and closes it."""

    cell: Cell
    adapter: ToolAdapter
    adapter_folder: Path
    provider: Provider
    contracts: dict[str, Contract]
    tool_call_s: float
    scratch: Path
    forge: Forge
    warm: bool
    """Fork tool servers from the warm interpreter."""
    hub_url: str
    token: str
    python: str
    recorder: Recorder
    traffic: Traffic
    incarnation: int = 0
    dead: set[int] = field(default_factory=set)
    """Incarnations that were killed: what still arrives from them is no message. Ending by itself, a runtime has its say."""
    exited: set[int] = field(default_factory=set)
    """Incarnations that ended by themselves: their launchers are ended, and no server with them."""
    instances: list[Instance] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    outputs: dict[str, Output] = field(default_factory=dict)
    """What each program of the cell printed."""
    failure: BaseException | None = None
    fault: Any = None
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _said: int = 0
    _refused: set[str] = field(default_factory=set)

    def may_say(self, size: int) -> bool:
        """Count what the runtime said; False once it has said too much in this cell."""
        self._said += size + MESSAGE_COST
        if self._said > MOST_SAID:
            self.refuse("the runtime said too much and is cut off")
            return False
        return True

    def refuse(self, why: str) -> None:
        """Note once that the runtime asks for what no wire gives."""
        if why not in self._refused:
            self._refused.add(why)
            self.recorder.record(Kind.NOTE, detail=why)

    @property
    def modern(self) -> bool:
        """Stateless revision, in which closing a response stream is the cancel."""
        return self.cell.protocol == "2026-07-28"

    @property
    def _retention_s(self) -> float | None:
        """As this cell's contracts have it."""
        keys = [contract.key for contract in self.contracts.values() if contract.key is not None]
        return next((key.retention_s for key in keys if key.retention_s is not None), None)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run work beside the cell; its failure fails the cell; it never outlives the cell."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._settled)
        return task

    def _settled(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failed(error)

    def failed(self, error: BaseException) -> None:
        """Something of ours failed: the cell is a harness error; the first failure is the one to tell."""
        self.failure = self.failure or error

    async def close(self) -> None:
        """Cancel whatever still runs beside the cell."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def start_instance(self, places: dict[int, int]) -> Instance:
        """Start a tool server; over stdio ``places`` are its stdin and stdout."""
        number = next(self._numbers)  # before anything is awaited: a runtime may launch two at once
        name = NAMES[number % 26] * (1 + number // 26)
        http = self.cell.transport == "http"
        url = ""
        listener: socket.socket | None = None
        if http:
            listener = socket.create_server(("127.0.0.1", 0), backlog=64)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        config = self.scratch / f"server-{name}.json"
        files = self.provider.kind == "files"
        write_new(
            config,
            {
                "instance": name,
                "transport": self.cell.transport,
                "listen_fd": 3 if http else None,
                "upstream": None if files else f"{self.hub_url}/p/{self.token}/{name}",
                "gate": str(self.scratch / "gate") if files else None,
                "root": str(self.scratch / "files") if files else None,
                "store": str(self.scratch / "store"),
                "retention_s": self._retention_s,
                "resumable": self.cell.variant is Variant.RESUMABLE,
            },
        )
        child = await self._launch(places, listener, config, name)
        instance = Instance(name, child, url)
        self.instances.append(instance)
        self.recorder.record(Kind.SERVER_STARTED, instance=name, pid=child.pid)
        self.spawn(self._watch(instance))
        return instance

    async def _launch(self, places: dict[int, int], listener: socket.socket | None, config: Path, name: str) -> Child:
        output = self.outputs[f"server-{name}"] = Output()
        command = fill(self.adapter.command, python=self.python)
        try:
            with output.places() as standard:
                everything = standard | places | ({3: listener.fileno()} if listener is not None else {})
                program = Program(command, environment({"BENCH_TOOL": str(config)}), self.adapter_folder, everything)
                return await self.forge.start_program(program, self.python, warm=self.warm and self.adapter.preload)
        finally:
            if listener is not None:
                listener.close()

    async def end_instance(self, instance: Instance, *, kill: bool) -> None:
        """End a stdio server as its launcher was ended: by SIGKILL, or by SIGTERM and then SIGKILL."""
        if not kill:
            instance.child.signal(signal.SIGTERM)
            if await instance.child.wait(LAUNCHER_GRACE_S):
                return
        await instance.child.kill_tree()

    async def _watch(self, instance: Instance) -> None:
        await instance.child.ended.wait()
        self.recorder.record(Kind.SERVER_EXITED, instance=instance.name, status=instance.child.status)

    async def kill_instance(self, name: str) -> None:
        """SIGKILL a tool server, whole tree, and make sure that it is gone; raises HarnessError if it was not, or survived.

        A server that a launcher started and left would survive the launcher's death and go on committing: so the proof of
        its death is not the exit status but that nobody holds its end of the wire any longer.
        """
        instance = self.instance(name)
        if instance.child.ended.is_set():
            raise HarnessError(f"tool server {name} had ended before it was to be killed")
        self.recorder.record(Kind.SERVER_KILLED, instance=name, pid=instance.child.pid)
        await instance.child.kill_tree()
        if instance.child.status != -signal.SIGKILL:
            raise HarnessError(f"tool server {name} (pid {instance.child.pid}) did not die of SIGKILL")
        try:
            await asyncio.wait_for(instance.silent(), KILL_TIMEOUT_S)
        except TimeoutError:
            raise HarnessError(
                f"SIGKILL hit a launcher: pid {instance.child.pid} is dead, but tool server {name} still holds the wire; "
                "the command of tool.toml must be the server itself (use exec)"
            ) from None

    def instance(self, name: str) -> Instance:
        return next(instance for instance in self.instances if instance.name == name)

    async def stop_instances(self, within_s: float) -> None:
        """End every tool server: SIGTERM (a stdio server has seen end of file already), then SIGKILL."""
        for instance in self.instances:
            if self.cell.transport == "http":
                instance.child.signal(signal.SIGTERM)
        for instance in self.instances:
            if not await instance.child.wait(within_s):
                self.recorder.record(Kind.NOTE, detail=f"tool server {instance.name} did not end by itself and was killed")
                await instance.child.kill_tree()

    async def never(self) -> None:
        """Silence: wait until the cell is over."""
        await self.over.wait()


def write_new(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file of ours; raises HarnessError where a runtime has put something, be it a pipe or a link."""
    try:
        with path.open("x", encoding="utf-8") as file:
            json.dump(content, file)
    except FileExistsError:
        raise HarnessError(f"the runtime put something in our place: {path.name}") from None


def not_executed_result(contract: Contract | None) -> dict[str, Any]:
    """An ``isError`` result that proves, as the contract says, that nothing was executed."""
    if contract is None or contract.answers.not_executed is None:
        raise HarnessError("refused needs answers.not_executed")
    pointer, value = contract.answers.not_executed
    result: dict[str, Any] = {"content": [{"type": "text", "text": "not executed"}], "isError": True}
    place = result
    *parents, leaf = pointer.strip("/").split("/")
    for name in parents:
        place = place.setdefault(name, {})
    place[leaf] = value
    with contextlib.suppress(KeyError):
        result["content"] = [{"type": "text", "text": json.dumps(result["structuredContent"])}]
    return result


def bad_result() -> dict[str, Any]:
    """A result that violates the schema of ``CallToolResult``."""
    return {"content": [{"type": "nonsense"}], "isError": False}


def error_result() -> dict[str, Any]:
    """The manifestation ``is-error``."""
    return {"content": [{"type": "text", "text": "upstream failed"}], "isError": True}

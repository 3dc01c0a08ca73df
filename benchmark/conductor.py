"""One cell, from its fresh scratch folder to its history; judging is somebody else's (``benchmark.scoring``)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import secrets
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmark import launcher, outcome, output, scratch
from benchmark.boundaries import Boundary
from benchmark.effects import Effect
from benchmark.errors import HarnessError, OracleError
from benchmark.fault import Fault
from benchmark.history import Declaration, History, Kind, Reading
from benchmark.intents import Decoy
from benchmark.laboratory import Laboratory, filled
from benchmark.model.script import Persona, script
from benchmark.output import Output
from benchmark.processes import Child, Forge, Program, environment
from benchmark.quarters import Quarters
from benchmark.recorder import Recorder
from benchmark.services import Running, free_port
from benchmark.setting import Setting
from benchmark.wires.gate import Gate
from benchmark.wires.http import HttpWire
from benchmark.wires.model import ModelWire
from benchmark.wires.provider import ProviderWire
from benchmark.wires.scene import Scene, write_new
from benchmark.wires.stdio import StdioWire
from benchmark.wires.traffic import Traffic

TOOL_CALL_S = 1.0
QUIET_TIMEOUT_S = 5.0


async def perform(laboratory: Laboratory, setting: Setting, logs: Path | None = None) -> tuple[History, int]:
    """Run one cell; returns its history and the bytes left in state_dir. Raises HarnessError."""
    performance = Performance(laboratory, setting)
    try:
        return await performance.run()
    finally:
        await performance.clear(logs)


class Performance:
    """The hands of one cell: starts, kills, probes, and tidies up."""

    def __init__(self, laboratory: Laboratory, setting: Setting) -> None:
        self._lab = laboratory
        self._setting = setting
        self._folder = Path(tempfile.mkdtemp(prefix="c", dir=laboratory.scratch))
        (self._folder / "state").mkdir()
        (self._folder / "files").mkdir()
        (self._folder / "store").mkdir()
        self._token = secrets.token_urlsafe(16)
        self._namespace = "n" + secrets.token_hex(8)
        self._base = ""
        self._forge = Forge()
        self._imported: Forge | None = None
        self._quarters: Quarters
        self._services: list[Running] = []
        self._own_provider: Child | None = None
        self._own_port = 0
        self._reviving: asyncio.Task[None] | None = None
        self._runtime: Child | None = None
        self._stopped = asyncio.Event()
        self._killing: asyncio.Task[None] | None = None
        self._baseline: tuple[Effect, ...] = ()
        self._decoys: set[str] = set()
        self._provider_wire: ProviderWire | None = None
        self._gate: Gate | None = None
        self._http: HttpWire | None = None
        self._stdio: StdioWire | None = None
        self._model: ModelWire | None = None
        self.recorder = Recorder()
        declared = setting.runtime.value
        self._tool_call_s = declared.timeouts.tool_call_s or TOOL_CALL_S
        self._run_s = declared.timeouts.run_s
        self.scene = Scene(
            cell=setting.cell,
            adapter=setting.adapter.value,
            adapter_folder=setting.adapter.folder,
            provider=setting.provider.value,
            contracts=setting.contracts,
            tool_call_s=self._tool_call_s,
            scratch=self._folder,
            forge=self._forge,
            warm=setting.preload,
            hub_url=laboratory.hub.url,
            token=self._token,
            python=laboratory.python,
            recorder=self.recorder,
            traffic=Traffic(self.recorder, setting.workload, setting.contracts),
        )
        self.fault = Fault(self.scene, self, setting.workload, self._run_s, setting.retention_s, declared.capabilities)
        self.scene.fault = self.fault

    # --- the cell's life -----------------------------------------------------------------------------------------

    async def run(self) -> tuple[History, int]:
        """Everything between the fresh scratch folder and the oracle's last reading."""
        await self._open()
        incarnation = 1
        while await self._incarnation(incarnation):
            await self.fault.before_restart()
            incarnation += 1
        await self._kill_disowned()
        for service in self._services:
            service.check()
        await self._quiesce()
        if isinstance(self.scene.failure, HarnessError):
            raise self.scene.failure
        if self.scene.failure is not None:
            raise HarnessError(f"the conductor failed: {self.scene.failure!r}") from self.scene.failure
        reading = self._final_reading()
        self.recorder.record(Kind.QUIESCENT)
        history = History(declaration=self._declaration(), events=tuple(self.recorder.events), reading=reading)
        return history, scratch.size(self._folder / "state")

    async def _open(self) -> None:
        await self._forge.branch(self._lab.forge)
        await self._move_in()
        provider = self._setting.provider.value
        hub = self._lab.hub
        if provider.kind == "http":
            root = await self._provider_root()
            if provider.namespace is not None:
                await self._lab.ask(root, provider.namespace, self._values())
            self._base = root + filled(provider.prefix, self._values())
            self._provider_wire = ProviderWire(self.scene, self._base)
            await self._provider_wire.open()
            hub.register("p", self._token, self._provider_wire.handle, self.scene.failed)
            await self._make_decoys("before")
        else:
            self._gate = Gate(self.scene)
            await self._gate.open()
        self._baseline = tuple(effect for effect in self._read() if effect.receipt not in self._decoys)
        if self._setting.cell.transport == "http":
            self._http = HttpWire(self.scene)
            await self._http.open()
            if self._setting.cell.boundary is Boundary.OTHER_INSTANCE:
                await self._http.stand_by()
            hub.register("t", self._token, self._http.handle, self.scene.failed)
        else:
            self._stdio = StdioWire(self.scene)
            self._stdio.open()
        if self._setting.runtime.value.capabilities.model:
            self._open_model()

    def _open_model(self) -> None:
        """The scripted model, in the cell's persona."""
        setting = self._setting
        descriptions = {name: tool.description for name, tool in setting.adapter.value.tools.items()}
        about = script(setting.workload, descriptions, Persona(setting.cell.persona), setting.change)
        self._model = ModelWire(self.scene, about, self._replan)
        self._lab.hub.register("m", self._token, self._model.handle, self.scene.failed)

    def _replan(self) -> None:
        """From now on calls may be attempts at the changed plan."""
        change = self._setting.change
        assert change is not None
        self.scene.traffic.replan(self._setting.workload.drifted(change))

    async def _move_in(self) -> None:
        """Make ready what the runtime needs besides the wires: its interpreter and its services."""
        quarters = self._quarters = await self._lab.quarters(self._setting.runtime)
        if self._setting.preload:
            self._imported = await quarters.branch()
        self._services += await quarters.shared()
        self._services += await quarters.own(self._folder, self._forge, self.scene.outputs)

    async def _provider_root(self) -> str:
        """Where the provider listens: the one that all cells share, or, where it is to be killed, one of the cell's own."""
        name = self.scene.provider.name
        if self._setting.cell.boundary is not Boundary.PROVIDER_CRASH:
            return await self._lab.provider_url(name)
        self._own_port = free_port()
        await self._launch_provider()
        return f"http://127.0.0.1:{self._own_port}"

    async def _launch_provider(self) -> Child:
        """Start the cell's own provider and wait until it is up."""
        printed = self.scene.outputs[f"provider-{len(self.scene.outputs)}"] = Output()
        name, port = self.scene.provider.name, self._own_port
        provider = self._own_provider = await self._lab.launch_provider(
            name, port, self._folder, self._forge, printed, warm=True
        )
        await self._lab.up(name, provider, port, printed)
        return provider

    async def _incarnation(self, number: int) -> bool:
        """One life of the runtime; True if it was killed to be started again."""
        self.scene.incarnation = number
        task = self._task(number)
        task_file = self._folder / f"task-{number}.json"
        write_new(task_file, task)
        child = self._runtime = await self._start_runtime(task_file, number)
        self.recorder.record(Kind.RUNTIME_STARTED, incarnation=number, pid=child.pid)
        ended = await self._wait(child)
        if self._stopped.is_set() and number == 1:
            ended = await self._second_life(child)
        if self._killing is not None:
            await self._killing  # whoever kills it has more to end than the process itself
            return self.fault.restarts
        if not ended:
            self.recorder.record(Kind.STILL_RUNNING, incarnation=number)
            self.fault.ended()
            await self._end(child, number)  # in that moment it may end by itself: its time was over all the same
            return False
        self.fault.finish()
        self._record_outcome(number, child.status or 0)
        self.recorder.record(Kind.RUNTIME_EXITED, incarnation=number, status=child.status)
        self.scene.exited.add(number)
        return False

    async def _wait(self, child: Child) -> bool:
        """Whether the runtime ended within its time; the first one's time also ends when it is stopped."""
        if self._setting.cell.boundary is not Boundary.DOUBLE_RESUME or self._stopped.is_set():
            return await child.wait(self._run_s)
        waits = [asyncio.ensure_future(child.ended.wait()), asyncio.ensure_future(self._stopped.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED, timeout=self._run_s)
        for wait in waits:
            wait.cancel()
        return child.ended.is_set()

    async def _second_life(self, first: Child) -> bool:
        """While the first runtime stands still a second one lives from start to end; then the first goes on."""
        await self._incarnation(2)
        await self.fault.before_continuing()
        self.scene.incarnation = 1
        self._runtime = first
        self._killing = None
        self.recorder.record(Kind.RUNTIME_CONTINUED, incarnation=1, pid=first.pid)
        first.continue_tree()
        return await first.wait(self._run_s)

    async def _start_runtime(self, task_file: Path, number: int) -> Child:
        self._killing = None
        quarters = self._quarters
        printed = self.scene.outputs[f"runtime-{number}"] = Output()
        forge = self._forge if quarters.at_home else self._imported
        with printed.places() as places:
            program = Program(quarters.command, environment({"BENCH_TASK": str(task_file)}), quarters.folder, places)
            if forge is None or quarters.warm is None or not self._setting.preload:
                return await self._forge.spawn(program)
            return await forge.fork(replace(program, argv=quarters.warm))

    def _record_outcome(self, number: int, status: int) -> None:
        content, detail = outcome.read(self._outcome) if status == 0 else (None, f"exit status {status}")
        self.recorder.record(Kind.OUTCOME, incarnation=number, result=content, detail=detail)

    async def _quiesce(self) -> None:
        """End all holds, let everything in flight come to its end, end the tool servers."""
        self.scene.over.set()
        deadline = asyncio.get_running_loop().time() + QUIET_TIMEOUT_S
        if self._stdio is not None:
            self._stdio.hang_up_servers()
        if self._reviving is not None:
            await asyncio.wait((self._reviving,))
        while self.scene.failure is None and not all(live.done for live in self.scene.traffic.requests):
            if asyncio.get_running_loop().time() > deadline:
                raise HarnessError("an upstream request was still in flight at the end")
            await asyncio.sleep(0.002)
        if self._http is not None:
            await self._http.close()
        await self.scene.stop_instances(QUIET_TIMEOUT_S)

    async def clear(self, logs: Path | None) -> None:
        """Leave nothing: processes, sockets, folder; keep the programs' output where asked."""
        self.scene.over.set()
        if self._reviving is not None:
            self._reviving.cancel()
            await asyncio.wait((self._reviving,))
        for forge in self._forges:
            await forge.stop()
        self._lab.hub.forget(self._token)
        await self.scene.close()
        for wire in (self._http, self._provider_wire, self._gate):
            if wire is not None:
                await wire.close()
        if self._stdio is not None:
            self._stdio.close()
        drop = self._setting.provider.value.drop
        if self._base and drop is not None and self._own_provider is None:
            with suppress(HarnessError):
                await self._lab.ask(await self._lab.provider_url(self.scene.provider.name), drop, self._values())
        printed = {name: each.close() for name, each in self.scene.outputs.items()}
        if logs is not None:
            with suppress(OSError):  # a verdict does not depend on what was printed
                output.keep(logs / f"{self._setting.cell.name}.log", printed)
        scratch.remove(self._folder)

    # --- hands for the fault -------------------------------------------------------------------------------------

    async def kill_runtime(self) -> None:
        """SIGKILL the runtime's whole process tree."""
        self._killing = self.scene.spawn(self._kill(self.scene.incarnation))
        await asyncio.shield(self._killing)

    async def _kill(self, number: int) -> None:
        runtime = self._runtime
        assert runtime is not None
        if runtime.ended.is_set():
            raise HarnessError("the runtime had ended before it was to be killed")
        await self._end(runtime, number)
        if runtime.status != -9:
            raise HarnessError(f"the runtime (pid {runtime.pid}) ended with status {runtime.status}, not of SIGKILL")

    async def _end(self, runtime: Child, number: int) -> None:
        self.scene.dead.add(number)
        self.recorder.record(Kind.RUNTIME_KILLED, incarnation=number, pid=runtime.pid)
        await runtime.kill_tree()
        if self._stdio is not None:
            await self._stdio.kill_servers(number)
        await self._kill_disowned()
        outcome.discard(self._outcome)

    @property
    def _forges(self) -> list[Forge]:
        return [self._forge] if self._imported is None else [self._imported, self._forge]

    async def _kill_disowned(self) -> None:
        for forge in self._forges:
            await forge.kill_disowned()

    async def stop_runtime(self) -> None:
        """SIGSTOP the runtime's whole process tree."""
        runtime = self._runtime
        assert runtime is not None
        await runtime.stop_tree()
        self.recorder.record(Kind.RUNTIME_STOPPED, incarnation=self.scene.incarnation, pid=runtime.pid)
        self._stopped.set()

    async def kill_server(self, instance: str) -> None:
        """SIGKILL a tool server; over HTTP a fresh one is up before the next connection."""
        if self._http is not None:
            self._http.hold_connections()
        await self.scene.kill_instance(instance)
        if self._http is not None:
            await self._http.server_killed(instance)

    def other_instance(self, *, keep_sessions: bool) -> None:
        """Route everything from now on to the other instance; the old one stays alive."""
        assert self._http is not None
        self._http.switch(keep_sessions=keep_sessions)

    async def crash_provider(self) -> None:
        """SIGKILL the cell's own provider; it is up again, on the same port and state, before the next request."""
        provider, wire = self._own_provider, self._provider_wire
        assert provider is not None
        assert wire is not None
        if provider.ended.is_set():
            raise HarnessError("the provider had ended before it was to be killed")
        wire.steady.clear()
        self.recorder.record(Kind.PROVIDER_KILLED, pid=provider.pid)
        await provider.kill_tree()
        if provider.status != -9:
            raise HarnessError(f"the provider (pid {provider.pid}) ended with status {provider.status}, not of SIGKILL")
        self._reviving = self.scene.spawn(self._revive(wire))

    async def _revive(self, wire: ProviderWire) -> None:
        provider = await self._launch_provider()
        if self.scene.provider.namespace is not None:
            root = f"http://127.0.0.1:{self._own_port}"
            await self._lab.ask(root, self.scene.provider.namespace, self._values(), again=True)
        self.recorder.record(Kind.PROVIDER_STARTED, pid=provider.pid)
        wire.steady.set()

    async def make_decoys(self) -> None:
        await self._make_decoys("during")

    def probe(self) -> None:
        """Ask the oracle now, while an answer is held."""
        seen = {effect.receipt for effect in self._read()} - self._decoys - {effect.receipt for effect in self._baseline}
        self.recorder.record(Kind.PROBE, receipts=tuple(sorted(seen)))

    def outcome_written(self) -> bool:
        return self._outcome.exists()

    # --- inside --------------------------------------------------------------------------------------------------

    @property
    def _outcome(self) -> Path:
        return self._folder / "outcome.json"

    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = {
            "namespace": self._namespace,
            "scratch": str(self._folder),
            "shared": str(self._lab.scratch if self._own_provider is None else self._folder),
            "retention_s": self._setting.retention_s,
        }
        return values | {"place": filled(self._setting.provider.value.place, values)}

    def _read(self) -> Sequence[Effect]:
        return self._setting.oracle(Path(self._values()["place"]))

    def _final_reading(self) -> Reading:
        try:
            return Reading(baseline=self._baseline, final=tuple(self._read()))
        except OracleError as error:
            return Reading(baseline=self._baseline, final=(), error=str(error))

    async def _make_decoys(self, when: str) -> None:
        for decoy in self._setting.workload.decoys:
            if decoy.when == when:
                await self._make_decoy(decoy)

    async def _make_decoy(self, decoy: Decoy) -> None:
        wire = self._provider_wire
        rules = self.scene.provider.commit
        rule = next((rule for rule in rules if rule.effect_class == decoy.effect_class), None)
        if wire is None or rule is None or re.fullmatch(r"[\w/-]+", rule.path) is None:
            raise HarnessError(f"provider {self.scene.provider.name} has no plain way to make a decoy {decoy.effect_class}")
        body = json.dumps(decoy.fields).encode()
        reply = await wire.forward(rule.method, rule.path, {"content-type": "application/json"}, body)
        if not reply.committed:
            raise HarnessError(f"the decoy was not committed: status {reply.status}")
        self._decoys.update(reply.receipts)
        self.recorder.record(Kind.DECOY, receipts=reply.receipts, effect_class=decoy.effect_class)

    def _drifts(self, number: int) -> bool:
        """The task itself brings the changed plan; a model brings it in its reply."""
        return number > 1 and self._setting.change is not None and self._model is None

    def _task(self, number: int) -> dict[str, Any]:
        workload = self._setting.workload
        change = self._setting.change
        if change is not None and self._drifts(number):
            workload = workload.drifted(change)
            self._replan()
        if self._stdio is not None:
            server = self._stdio.task_server(self._lab.python, Path(launcher.__file__).resolve())
        else:
            assert self._http is not None
            server = self._http.task_server()
        return {
            "contract": 1,
            "cell": "c-" + hashlib.sha256(self._token.encode()).hexdigest()[:12],
            "workflow_id": "wf-" + hashlib.sha256(b"workflow" + self._token.encode()).hexdigest()[:12],
            "incarnation": number,
            "replan": self._drifts(number),
            "state_dir": str(self._folder / "state"),
            "outcome_path": str(self._outcome),
            "turns": [{"say": intent.say, "intents": [intent.id]} for intent in workload.intents],
            "intents": [
                {"id": intent.id, "say": intent.say, "calls": [call.model_dump(mode="json") for call in intent.calls]}
                for intent in workload.intents
            ],
            "server": server,
            "contracts": {tool: contract.model_dump(mode="json") for tool, contract in self.scene.contracts.items()},
            "model": self._model.task_model() if self._model is not None else None,
            "services": {service.name: service.told for service in self._services},
            "timeouts": {"tool_call_s": self._tool_call_s, "run_s": self._run_s},
        }

    def _declaration(self) -> Declaration:
        runtime = self._setting.runtime.value
        return Declaration(
            runtime=runtime.name,
            model=runtime.capabilities.model,
            resumes=runtime.capabilities.resumes,
            cell=self._setting.cell,
            workload=self._setting.workload,
            contracts=self.scene.contracts,
            truthful=self._setting.adapter.value.truthful,
            tool_call_s=self._tool_call_s,
            run_s=self._run_s,
            lease_s=runtime.capabilities.lease_s,
        )

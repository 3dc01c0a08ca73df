"""What a cell costs, measured in one run against two things one can argue about: the floor, and the cell written by hand.

Sweep, floor and cold cells take turns in small rounds, so that a machine that is busy for a while is busy for all of them.
CPU seconds are those of every process that took part, conductor, provider and a runtime's services included.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import psutil

from benchmark import applicability, environments, speed_client
from benchmark.catalog import Catalogue, Placed, load
from benchmark.cells import Cell
from benchmark.conductor import perform
from benchmark.entries import Runtime, ToolAdapter
from benchmark.errors import HarnessError, UsageError
from benchmark.laboratory import Laboratory
from benchmark.plan import PROTOCOLS, TRANSPORTS, judgeable
from benchmark.processes import Program, environment, fill
from benchmark.scoring import judge
from benchmark.setting import Setting

RUNTIME = "mcp-python-retry"
PAIR = ("charge-card", "idempotency-key")
MODES = tuple(f"{transport}.{protocol}" for transport in TRANSPORTS for protocol in PROTOCOLS)
ROUNDS = 3
COLD = 4
"""Cold cells of a round: they are dear, and hardly differ."""

Work = Callable[[], Awaitable[None]]


@dataclass
class Bill:
    """What some cells cost, in all."""

    cells: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0

    @property
    def cpu_of_one(self) -> float:
        """CPU seconds per cell."""
        return self.cpu_s / self.cells

    def figures(self, name: str) -> dict[str, Any]:
        return {
            f"{name}: cells": self.cells,
            f"{name}: cells per second": round(self.cells / self.wall_s, 2),
            f"{name}: CPU seconds per cell": round(self.cpu_of_one, 4),
        }


def measure(cells: int, jobs: int) -> dict[str, Any]:
    """Figure → value; raises HarnessError if what is measured does not do its work."""
    return asyncio.run(Measurement(load(), cells, jobs).run())


def measure_runtimes(names: Sequence[str], cells: int, jobs: int) -> dict[str, Any]:
    """Figure → value for each runtime; raises UsageError for a name that is unknown or not installed, and HarnessError."""
    catalogue = load()
    runtimes = [catalogue.runtime(name) for name in names]
    for runtime in runtimes:
        if lack := environments.lacking(catalogue, runtime):
            raise UsageError(str(lack))
    figures: dict[str, Any] = {"jobs": jobs, "processors": os.cpu_count()}
    for runtime in runtimes:
        figures |= asyncio.run(measure_runtime(catalogue, runtime, cells, jobs))
    return figures


async def measure_runtime(catalogue: Catalogue, runtime: Placed[Runtime], cells: int, jobs: int) -> dict[str, Any]:
    """Figure → value: the first cell, which pays for imports and services, and what each further cell costs."""
    first, rest = Bill(), Bill()
    async with Laboratory(catalogue, sys.executable) as laboratory:
        for bill, number in ((first, 1), (rest, cells)):
            settings = (Setting.of(catalogue, runtime, cell) for cell in struck(catalogue, runtime, number))
            await Clock(jobs).time(bill, [partial(cell_of, laboratory, setting) for setting in settings])
    name = runtime.value.name
    once = {
        f"{name}: first cell, seconds": round(first.wall_s, 2),
        f"{name}: first cell, CPU seconds": round(first.cpu_s, 2),
    }
    return once | rest.figures(name)


def struck(catalogue: Catalogue, runtime: Placed[Runtime], number: int) -> list[Cell]:
    """So many cells of an answer that is lost, in every mode that the runtime speaks."""
    able = runtime.value.capabilities
    names = [".".join([*PAIR, "before-delivery", "-", "error", mode, "first-once", "-@1"]) for mode in MODES]
    spoken = judgeable(catalogue, applicability.cast(able, tuple(Cell.parse(name) for name in names)), able)
    return [cell.repeated(index) for index, cell in enumerate(islice(cycle(spoken), number), 1)]


async def cell_of(laboratory: Laboratory, setting: Setting) -> None:
    """Run one cell; raises HarnessError where nothing was proven."""
    history, _ = await perform(laboratory, setting)
    verdict = judge(history)
    if not verdict.verdict.judged:
        raise HarnessError(f"{setting.runtime.value.name}: {setting.cell.name}: {verdict.verdict}: {verdict.reason}")


class Clock:
    """Does some work, so many pieces at the same time, and bills what it cost."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    async def time(self, bill: Bill, work: Iterable[Work]) -> None:
        """Raises what a piece of work raises."""
        queue = iter(work)
        done = 0

        async def worker() -> None:
            nonlocal done
            for job in queue:
                await job()
                done += 1

        wall, cpu = time.monotonic(), self._cpu()
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.jobs):
                    group.create_task(worker())
        except* HarnessError as failed:
            raise failed.exceptions[0] from None
        bill.wall_s += time.monotonic() - wall
        bill.cpu_s += self._cpu() - cpu
        bill.cells += done

    def _cpu(self) -> float:
        """CPU seconds of this process, its living children, and all that they have waited for."""
        here = psutil.Process()
        total = 0.0
        for process in (here, *here.children(recursive=True)):
            try:
                total += sum(process.cpu_times()[:4])
            except psutil.NoSuchProcess:
                continue
        return total


class Measurement:
    """One run of rounds."""

    def __init__(self, catalogue: Catalogue, cells: int, jobs: int) -> None:
        self._catalogue = catalogue
        self._clock = Clock(jobs)
        self._batch = max(len(MODES), cells // ROUNDS)
        self._adapter: Placed[ToolAdapter] = catalogue.adapter(PAIR[1])

    async def run(self) -> dict[str, Any]:
        sweep, floor, cold = Bill(), Bill(), Bill()
        async with Laboratory(self._catalogue, sys.executable) as laboratory:
            self._lab = laboratory
            self._upstream = await self._namespace()
            self._config = self._write_config()
            await self._clock.time(Bill(), self._cells())  # the first cells pay for caches that the others find warm
            for _ in range(ROUNDS):
                await self._clock.time(sweep, self._cells())
                await self._clock.time(floor, [self._floor] * self._batch)
                await self._clock.time(cold, [self._cold] * COLD)
        ratios = {
            "sweep / floor, CPU": round(sweep.cpu_of_one / floor.cpu_of_one, 2),
            "cold / sweep, CPU": round(cold.cpu_of_one / sweep.cpu_of_one, 2),
        }
        shape = {"jobs": self._clock.jobs, "processors": os.cpu_count(), "rounds": ROUNDS}
        return shape | sweep.figures("sweep") | floor.figures("floor") | cold.figures("cold") | ratios

    def _cells(self) -> list[Work]:
        runtime = self._catalogue.runtime(RUNTIME)
        cells = struck(self._catalogue, runtime, self._batch)
        return [partial(self._cell, Setting.of(self._catalogue, runtime, cell)) for cell in cells]

    async def _cell(self, setting: Setting) -> None:
        history, _ = await perform(self._lab, setting)
        if judge(history).duplicates != 1:
            raise HarnessError(f"{setting.cell.name} did not do what is measured")

    async def _namespace(self) -> str:
        provider = self._catalogue.provider_of(PAIR[1]).value
        base = await self._lab.provider_url(provider.name)
        values = {"namespace": "speed", "place": str(self._lab.scratch / "speed.sqlite"), "retention_s": None}
        assert provider.namespace is not None
        await self._lab.ask(base, provider.namespace, values)
        return base + "/speed"

    def _write_config(self) -> Path:
        """Written once: servers that start at the same time read it."""
        file = self._lab.scratch / "speed.json"
        told = {
            "instance": "a",
            "transport": "stdio",
            "listen_fd": None,
            "upstream": self._upstream,
            "gate": None,
            "root": None,
        }
        file.write_text(json.dumps(told))
        return file

    async def _floor(self) -> None:
        """Two forks, one handshake, the calls."""
        server_in, client_out = os.pipe()
        client_in, server_out = os.pipe()
        null = os.open(os.devnull, os.O_RDWR)
        program = self._adapter.folder / self._adapter.value.command[1]
        server = await self._lab.forge.fork(
            Program(
                (str(program),),
                environment({"BENCH_TOOL": str(self._config)}),
                self._adapter.folder,
                {0: server_in, 1: server_out, 2: null},
            )
        )
        told = {"SPEED_CLIENT": json.dumps({"fds": [3, 4]})}
        client = await self._lab.forge.fork(
            Program(
                (speed_client.__file__,),
                environment(told),
                self._lab.scratch,
                {0: null, 1: null, 2: null, 3: client_in, 4: client_out},
            )
        )
        for fd in (server_in, client_out, client_in, server_out, null):
            os.close(fd)
        await self._ended(client, server)

    async def _cold(self) -> None:
        """A fresh client process that launches a fresh server process."""
        command = fill(self._adapter.value.command, python=sys.executable)
        told = {"command": list(command), "config": str(self._config), "cwd": str(self._adapter.folder)}
        null = os.open(os.devnull, os.O_RDWR)
        program = Program(
            (sys.executable, speed_client.__file__),
            environment({"SPEED_CLIENT": json.dumps(told)}),
            self._lab.scratch,
            {0: null, 1: null, 2: null},
        )
        client = await self._lab.forge.spawn(program)
        os.close(null)
        await self._ended(client)

    async def _ended(self, *children: Any) -> None:
        for child in children:
            if not await child.wait(30.0) or child.status != 0:
                await child.kill_tree()
                raise HarnessError(f"a process of the comparison ended with status {child.status}")

"""What a cell costs, measured in one run against two things one can argue about: the floor, and the cell written by hand.

Sweep, floor and cold cells take turns in small rounds, so that a machine that is busy for a while is busy for all of them.
CPU seconds are those of every process that took part, conductor and provider included.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from benchmark import speed_client
from benchmark.catalog import Catalogue, Placed, load
from benchmark.cells import Cell
from benchmark.conductor import perform
from benchmark.entries import ToolAdapter
from benchmark.errors import HarnessError
from benchmark.laboratory import Laboratory
from benchmark.processes import Program, environment, fill
from benchmark.scoring import judge
from benchmark.setting import Setting

RUNTIME = "mcp-python-retry"
PAIR = ("charge-card", "idempotency-key")
MODES = ("stdio.2025-11-25", "stdio.2026-07-28", "http.2025-11-25", "http.2026-07-28")
ROUNDS = 3


@dataclass
class Bill:
    """What some cells cost, in all."""

    cells: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0

    def figures(self, name: str) -> dict[str, Any]:
        return {
            f"{name}: cells": self.cells,
            f"{name}: cells per second": round(self.cells / self.wall_s, 2),
            f"{name}: CPU seconds per cell": round(self.cpu_s / self.cells, 4),
        }


def measure(cells: int = 60, jobs: int | None = None) -> dict[str, Any]:
    """Figure → value; raises HarnessError if what is measured does not do its work."""
    return asyncio.run(Measurement(load(), cells, jobs or 8).run())


class Measurement:
    """One run of rounds."""

    def __init__(self, catalogue: Catalogue, cells: int, jobs: int) -> None:
        self._catalogue = catalogue
        self._jobs = jobs
        self._batch = max(len(MODES), cells // ROUNDS)
        self._adapter: Placed[ToolAdapter] = catalogue.adapter(PAIR[1])

    async def run(self) -> dict[str, Any]:
        sweep, floor, cold = Bill(), Bill(), Bill()
        async with Laboratory(self._catalogue, sys.executable) as laboratory:
            self._lab = laboratory
            self._upstream = await self._namespace()
            self._config = self._write_config()
            await self._timed(Bill(), self._cells(0))  # the first cell pays for caches that the others find warm
            for number in range(1, ROUNDS + 1):
                await self._timed(sweep, self._cells(number))
                await self._timed(floor, [self._floor] * self._batch)
                await self._timed(cold, [self._cold] * 4)
        ratios = {
            "sweep / floor, CPU": round(sweep.cpu_s / sweep.cells / (floor.cpu_s / floor.cells), 2),
            "cold / sweep, CPU": round(cold.cpu_s / cold.cells / (sweep.cpu_s / sweep.cells), 2),
        }
        shape = {"jobs": self._jobs, "processors": os.cpu_count(), "rounds": ROUNDS}
        return shape | sweep.figures("sweep") | floor.figures("floor") | cold.figures("cold") | ratios

    def _cells(self, number: int) -> list[Callable[[], Awaitable[None]]]:
        runtime = self._catalogue.runtime(RUNTIME)
        provider = self._catalogue.provider_of(PAIR[1])
        jobs: list[Callable[[], Awaitable[None]]] = []
        for index in range(self._batch):
            mode = MODES[index % len(MODES)]
            name = ".".join([*PAIR, "before-delivery", "-", "error", mode, "first-once", f"-@{number * 1000 + index + 1}"])
            setting = Setting(
                cell=Cell.parse(name),
                runtime=runtime,
                workload=self._catalogue.workload(PAIR[0]).value,
                adapter=self._adapter,
                provider=provider,
                oracle=self._catalogue.oracle(provider.value.oracle),
            )
            jobs.append(partial(self._cell, setting))
        return jobs

    async def _cell(self, setting: Setting) -> None:
        history, _ = await perform(self._lab, setting)
        if judge(history).duplicates != 1:
            raise HarnessError(f"{setting.cell.name} did not do what is measured")

    async def _timed(self, bill: Bill, work: Iterable[Callable[[], Awaitable[None]]]) -> None:
        queue = iter(work)
        done = 0

        async def worker() -> None:
            nonlocal done
            for job in queue:
                await job()
                done += 1

        wall, cpu = time.monotonic(), self._cpu()
        await asyncio.gather(*(worker() for _ in range(self._jobs)))
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

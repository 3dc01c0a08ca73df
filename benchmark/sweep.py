"""Many cells: a few at a time in one conductor, each judged as it ends; disturbed cells run again."""

from __future__ import annotations

import asyncio
import errno
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from benchmark import environments
from benchmark.applicability import inapplicable
from benchmark.catalog import Catalogue, Placed
from benchmark.cells import Cell
from benchmark.conductor import perform
from benchmark.disturbance import disturbance
from benchmark.entries import Runtime
from benchmark.errors import BenchError, HarnessError
from benchmark.history import History
from benchmark.installed import lacking
from benchmark.laboratory import Laboratory
from benchmark.results import CellResult, Judgement, Verdict
from benchmark.scoring import judge
from benchmark.setting import Setting

ATTEMPTS = 3
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
"""What no cell is to blame for, and what the next cell would meet again."""
OnResult = Callable[[CellResult, History | None], None]


@dataclass
class SweepSettings:
    """What to sweep, and how."""

    runtime: Placed[Runtime]
    cells: tuple[Cell, ...]
    catalogue: Catalogue
    jobs: int = 8
    preload: bool = True
    fail_fast: bool = False
    logs: Path | None = None
    on_note: Callable[[str], None] = lambda _: None
    """Told, in a line, what a person should know besides the results."""


@dataclass
class SweepSummary:
    """How the sweep ended; the results themselves went to ``on_result``."""

    interrupted: bool = False
    cells: int = 0
    verdicts: dict[Verdict, int] = field(default_factory=dict)


def run_sweep(settings: SweepSettings, on_result: OnResult) -> SweepSummary:
    """Run the cells; ``on_result`` gets each as it ends. Ctrl-C and SIGTERM end it early with what there is."""
    return asyncio.run(Sweep(settings, on_result).run())


class Sweep:
    """One run of many cells."""

    def __init__(self, settings: SweepSettings, on_result: OnResult) -> None:
        self._settings = settings
        self._on_result = on_result
        self._summary = SweepSummary()
        self._stop = asyncio.Event()
        self._absent = environments.lacking(settings.catalogue, settings.runtime)

    async def run(self) -> SweepSummary:
        """Those not applicable, or not installed, are told first; the others run, ``jobs`` at a time."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupt)
        runnable = [cell for cell in self._settings.cells if self._runnable(cell)]
        if not runnable or self._stop.is_set():
            return self._summary
        async with Laboratory(self._settings.catalogue, sys.executable, self._settings.on_note) as laboratory:
            queue = iter(runnable)
            workers = [loop.create_task(self._work(laboratory, queue)) for _ in range(self._settings.jobs)]
            stopped = loop.create_task(self._stop.wait())
            done = asyncio.gather(*workers)
            try:
                await asyncio.wait((done, stopped), return_when=asyncio.FIRST_COMPLETED)
                if done.done():
                    done.result()
            finally:
                for task in (done, stopped):
                    task.cancel()
                await asyncio.gather(done, *workers, stopped, return_exceptions=True)
        return self._summary

    def _interrupt(self) -> None:
        self._summary.interrupted = True
        self._stop.set()

    async def _work(self, laboratory: Laboratory, queue: Iterable[Cell]) -> None:
        for cell in queue:
            self._tell(*await self._judged(laboratory, self._setting(cell)))

    def _setting(self, cell: Cell) -> Setting:
        return Setting.of(self._settings.catalogue, self._settings.runtime, cell, preload=self._settings.preload)

    def _runnable(self, cell: Cell) -> bool:
        setting = self._setting(cell)
        absent = lacking(setting.provider.value) or self._absent
        if absent is not None:
            self._tell(_result(setting, verdict=Verdict.NOT_RUN, reason=str(absent)), None)
            return False
        reason = inapplicable(
            setting.runtime.value.capabilities, setting.workload, setting.adapter.value, setting.provider.value, cell
        )
        if reason is None:
            return True
        self._tell(_result(setting, verdict=Verdict.NOT_APPLICABLE, reason=reason), None)
        return False

    async def _judged(self, laboratory: Laboratory, setting: Setting) -> tuple[CellResult, History | None]:
        reasons: list[str] = []
        began = time.monotonic()
        while True:
            history = None
            try:
                history, state_bytes = await perform(laboratory, setting, self._settings.logs)
                disturbed = disturbance(history)
                if disturbed is not None and len(reasons) < ATTEMPTS:
                    reasons.append(disturbed)
                    continue
                more = {"wall_s": round(time.monotonic() - began, 3), "state_bytes": state_bytes}
                return _result(setting, judge(history), reruns=len(reasons), rerun_reasons=tuple(reasons), **more), history
            except Exception as error:  # noqa: BLE001 - whatever failed in one cell must not cost the others
                if isinstance(error, OSError) and error.errno in NO_ROOM:
                    raise HarnessError(
                        f"{laboratory.scratch}: {error.strerror}; make room, then go on with --resume"
                    ) from None
                failure = str(error) if isinstance(error, BenchError) else f"the conductor failed: {error!r}"
                line = " ".join(failure.split())[:300]
                return _result(setting, verdict=Verdict.HARNESS_ERROR, reason=line, reruns=len(reasons)), history

    def _tell(self, result: CellResult, history: History | None) -> None:
        self._summary.cells += 1
        self._summary.verdicts[result.verdict] = self._summary.verdicts.get(result.verdict, 0) + 1
        self._on_result(result, history)
        bad = result.verdict.judged and result.verdict is not Verdict.CORRECT
        if self._settings.fail_fast and (bad or result.verdict is Verdict.HARNESS_ERROR):
            self._stop.set()


def _result(setting: Setting, judgement: Judgement | None = None, **more: object) -> CellResult:
    """The line of a cell: coordinates, judgement, and what only the sweep knows."""
    cell = setting.cell
    judged = judgement.model_dump() if judgement is not None else {}
    return CellResult.model_validate(
        {
            "cell": cell.name,
            "runtime": setting.runtime.value.name,
            "workload": cell.workload,
            "adapter": cell.adapter,
            "truthful": setting.adapter.value.truthful,
            "contract": str(setting.adapter.value.kind(setting.workload.tools)),
            "boundary": str(cell.boundary),
            "variant": str(cell.variant),
            "manifestation": str(cell.manifestation),
            "transport": cell.transport,
            "protocol": cell.protocol,
            "strike": str(cell.strike),
            "persona": cell.persona,
            "repeat": cell.repeat,
            "injected": str(cell.manifestation),
            **judged,
            **more,
        }
    )

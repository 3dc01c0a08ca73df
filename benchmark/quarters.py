"""Where a runtime runs during a sweep: its environment, its folder, the interpreter that imported it, shared services."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import aiohttp

from benchmark import environments, services
from benchmark.catalog import Placed
from benchmark.entries import Runtime, Service
from benchmark.errors import HarnessError
from benchmark.output import Output
from benchmark.processes import Forge, Program, UnforkableError, environment, fill
from benchmark.services import Running

LEFT = shutil.ignore_patterns("node_modules", "__pycache__", ".*")


class Quarters:
    """Made once per sweep for each runtime; what costs time is done when it is first needed."""

    def __init__(
        self,
        runtime: Placed[Runtime],
        python: str,
        scratch: Path,
        forge: Forge,
        client: aiohttp.ClientSession,
        note: Callable[[str], None],
    ) -> None:
        """``python``: the benchmark's own interpreter; ``note``: told what a person should know of it."""
        self.runtime = runtime.value
        self._environment = environments.of(runtime)
        own = self._environment
        self._foreign = own is not None and own.python is not None
        self.values = {
            "python": str(own.interpreter) if own is not None and own.python is not None else python,
            "node": environments.node(own) or "node",
            "env": str(own.folder) if own is not None else str(Path(python).parent.parent),
        }
        self.folder = runtime.folder.resolve()
        self._scratch = scratch
        self._forge = forge
        self._client = client
        self._note = note
        self._trunk: Forge | None = None
        self._failure: HarnessError | None = None
        self._outputs: list[Output] = []
        self._shared: dict[str, Running] = {}
        self._unserved: HarnessError | None = None
        self._lock = asyncio.Lock()
        if own is not None and own.node is not None:
            self.folder = self._copied(runtime, own)

    def _copied(self, runtime: Placed[Runtime], own: environments.Environment) -> Path:
        """The runtime's folder in a place from which Node finds the environment's packages; returns the copy."""
        place = Path(tempfile.mkdtemp(prefix="node-", dir=self._scratch))
        for folder in environments.folders(runtime):
            shutil.copytree(folder, place / folder.name, ignore=LEFT)
        (place / "node_modules").symlink_to(own.modules)
        return place / self.folder.name

    @property
    def at_home(self) -> bool:
        """Whether it runs on the benchmark's own interpreter."""
        return not self._foreign

    @property
    def command(self) -> tuple[str, ...]:
        """How the runtime is started in ``folder``."""
        return fill(self.runtime.command, **self.values)

    @property
    def warm(self) -> tuple[str, ...] | None:
        """The command as a program file and its arguments, if it may be forked from a warm interpreter; else None."""
        python, *rest = self.command
        if not (self.runtime.capabilities.preload and python == self.values["python"] and rest):
            return None
        return (os.path.normpath(self.folder / rest[0]), *rest[1:])

    async def branch(self) -> Forge | None:
        """A fork of the environment's interpreter that has imported the runtime, for one cell, whose it is then.

        None: there is no such interpreter. Raises HarnessError where the runtime cannot be imported.
        """
        if not self._foreign or self.warm is None:
            return None
        async with self._lock:
            if self._trunk is None and self._failure is None:
                await self._import(self.warm)
        if isinstance(self._failure, UnforkableError):
            return None
        if self._failure is not None or self._trunk is None:
            raise self._failure or HarnessError("no interpreter")
        forge = Forge()
        try:
            await forge.branch(self._trunk)
        except BaseException:
            await forge.stop()
            raise
        return forge

    async def _import(self, program: tuple[str, ...]) -> None:
        output = self._output()
        trunk = Forge()
        argv = (self.values["python"], *program)
        try:
            with output.places() as places:
                await trunk.imported(self._forge, Program(argv, environment({}), self.folder, places))
        except HarnessError as error:
            await trunk.stop()
            if isinstance(error, UnforkableError):
                self._failure = error
                self._note(f"{self.runtime.name} is started cold for each cell: {error}")
            else:
                self._failure = HarnessError(f"{error}: {output.last_line}" if output.last_line else str(error))
        else:
            self._trunk = trunk

    def _output(self) -> Output:
        output = Output()
        self._outputs.append(output)
        return output

    async def shared(self) -> list[Running]:
        """The services that all cells share, started when first needed; raises HarnessError."""
        async with self._lock:
            if self._unserved is not None:
                raise self._unserved
            try:
                for service in self.runtime.service:
                    if service.shared and service.name not in self._shared:
                        await self._share(service)
            except HarnessError as error:
                self._unserved = error
                raise
        return list(self._shared.values())

    async def _share(self, service: Service) -> None:
        state = self._scratch / f"shared-{self.runtime.name}-{service.name}"
        self._shared[service.name] = await services.start(
            service, self.values, self.folder, state, self._forge, self._client, self._output
        )

    async def own(self, folder: Path, forge: Forge, outputs: dict[str, Output]) -> list[Running]:
        """The services that one cell has for itself; raises HarnessError."""
        found = []
        for service in self.runtime.service:
            if not service.shared:
                state = folder / f"service-{service.name}"
                output_of = partial(_output_in, outputs, f"service-{service.name}")
                found.append(await services.start(service, self.values, self.folder, state, forge, self._client, output_of))
        return found

    async def close(self) -> None:
        """End its interpreter and services."""
        if self._trunk is not None:
            await self._trunk.stop()
        for running in self._shared.values():
            await running.child.kill_tree()
        for output in self._outputs:
            output.close()


def _output_in(outputs: dict[str, Output], name: str) -> Output:
    """One more place for what a program prints, among those of a cell."""
    output = outputs[f"{name}-{len(outputs)}"] = Output()
    return output

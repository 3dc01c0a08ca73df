"""What the cells of a sweep share: the warm interpreter, the hub, the providers' processes, the scratch root."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp

from benchmark import scratch, services
from benchmark.catalog import Catalogue, Placed
from benchmark.entries import Provider, Request, Runtime
from benchmark.errors import HarnessError
from benchmark.output import Output
from benchmark.processes import Child, Forge, Program, environment, fill
from benchmark.quarters import Quarters
from benchmark.services import free_port
from benchmark.wires.hub import Hub

EXISTS = (405, 409)
"""How a provider says that what is to be made is there (RFC 4918 §9.3.1, RFC 4791 §5.3.1.1)."""


def filled(value: Any, values: dict[str, Any]) -> Any:
    """A template with ``{placeholders}`` filled in; a string that is one placeholder takes the value with its type."""
    if isinstance(value, dict):
        return {name: filled(item, values) for name, item in value.items()}
    if not isinstance(value, str):
        return value
    for name, replacement in values.items():
        if value == "{" + name + "}":
            return replacement
        value = value.replace("{" + name + "}", str(replacement))
    return value


class Laboratory:
    """An async context: everything is up inside, nothing is left after."""

    def __init__(self, catalogue: Catalogue, python: str, note: Callable[[str], None] = lambda _: None) -> None:
        """``note``: told, in a line, what a person should know of what the cells share."""
        self.catalogue = catalogue
        self.python = python
        self.scratch = Path()
        self.forge = Forge()
        self.hub = Hub()
        self._outputs: list[Output] = []
        self._providers: dict[str, str] = {}
        self._children: list[Child] = []
        self._quarters: dict[Path, Quarters] = {}
        self._note = note
        self._starting = asyncio.Lock()
        self._files = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.client: aiohttp.ClientSession

    async def __aenter__(self) -> Laboratory:
        self.client = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30.0))
        output = self._output()
        try:
            await self.hub.start()
            await self.forge.start(output.place)
            self.scratch = self.forge.scratch
        except BaseException as error:
            await self.__aexit__()
            if isinstance(error, HarnessError):
                raise HarnessError(f"{error}: {output.last_line}" if output.last_line else str(error)) from None
            raise
        finally:
            output.handed_over()
        # A runtime may open a thousand connections, and other cells need some too. Programs keep the user's limit.
        resource.setrlimit(resource.RLIMIT_NOFILE, (self._files[1], self._files[1]))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()
        for quarters in self._quarters.values():
            await quarters.close()
        for child in self._children:
            await child.kill_tree()
        await self.hub.stop()
        await self.forge.stop()
        if self.scratch != Path():
            scratch.remove(self.scratch)  # as the interpreter has done, if it could
        for output in self._outputs:
            output.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, self._files)

    def _output(self) -> Output:
        output = Output()
        self._outputs.append(output)
        return output

    async def provider_url(self, name: str) -> str:
        """Where an HTTP provider listens; started when first needed, shared by all cells."""
        async with self._starting:
            if name not in self._providers:
                self._providers[name] = await services.on_free_ports(partial(self._start, name))
        return self._providers[name]

    async def _start(self, name: str) -> str:
        port = free_port()
        output = self._output()
        child = await self.launch_provider(name, port, self.scratch, self.forge, output, warm=False)
        self._children.append(child)
        await self.up(name, child, port, output)
        return f"http://127.0.0.1:{port}"

    async def launch_provider(
        self, name: str, port: int, folder: Path, forge: Forge, output: Output, *, warm: bool
    ) -> Child:
        """Start a provider's process; it belongs to the caller. ``warm``: from the warm interpreter, where it may be."""
        placed = self.catalogue.provider(name)
        provider: Provider = placed.value
        assert provider.command is not None
        command = fill(provider.command, python=self.python, port=str(port), scratch=str(folder))
        with output.places() as places:
            program = Program(command, environment({}), placed.folder, places)
            return await forge.start_program(program, self.python, warm=warm and provider.preload)

    async def up(self, name: str, child: Child, port: int, output: Output) -> None:
        """Wait until a provider is ready; raises HarnessError."""
        ready = self.catalogue.provider(name).value.ready
        await services.up(self.client, f"provider {name}", ready, child, port, output)

    async def quarters(self, runtime: Placed[Runtime]) -> Quarters:
        """Where a runtime runs, made when it is first needed."""
        async with self._starting:
            if runtime.file not in self._quarters:
                self._quarters[runtime.file] = Quarters(
                    runtime, self.python, self.scratch, self.forge, self.client, self._note
                )
        return self._quarters[runtime.file]

    async def ask(self, base: str, request: Request, values: dict[str, Any], *, again: bool = False) -> None:
        """Make one of a provider's declared requests; ``again``: it may be there already. Raises HarnessError."""
        path = filled(request.path, values)
        try:
            async with self.client.request(request.method, base + path, json=filled(request.body, values)) as response:
                if response.status >= 300 and not (again and response.status in EXISTS):
                    raise HarnessError(f"{request.method} {path}: the provider answered {response.status}")
        except aiohttp.ClientError as error:
            raise HarnessError(f"{request.method} {path}: {error}") from None

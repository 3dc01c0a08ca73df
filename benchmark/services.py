"""Servers on loopback ports: started, waited for until they answer; those that a runtime needs (``[[service]]``)."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import aiohttp

from benchmark.entries import Service
from benchmark.errors import HarnessError
from benchmark.output import Output
from benchmark.processes import Child, Forge, Program, environment, fill

START_TIMEOUT_S = 30.0
STARTS = 3
"""So often is a server started that ends before it answers."""
MAIN = "main"
"""The name of the port that is just ``{port}``."""
_PORT = re.compile(r"\{port(?:\.([\w-]+))?\}")


Started = TypeVar("Started")


class EndedError(HarnessError):
    """A server ended while it was starting."""


def free_port() -> int:
    """A loopback port that nobody listens on; somebody else may be there before its server is (``on_free_ports``)."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


async def on_free_ports(start: Callable[[], Awaitable[Started]]) -> Started:
    """What ``start`` starts on ports that it chooses anew each time; raises HarnessError where it never comes up."""
    for _ in range(STARTS - 1):
        try:
            return await start()
        except EndedError:
            continue
    return await start()


async def up(client: aiohttp.ClientSession, name: str, ready: str, child: Child, port: int, output: Output) -> None:
    """Wait until a server answers as ``ready`` says (tcp, or an HTTP path that answers 2xx); raises HarnessError."""
    for _ in range(int(START_TIMEOUT_S / 0.02)):
        if child.ended.is_set():
            raise EndedError(f"{name} ended with status {child.status} while starting: {output.last_line}")
        if await _answers(client, ready, port):
            return
        await asyncio.sleep(0.02)
    said = f": {output.last_line}" if output.last_line else ""
    raise HarnessError(f"{name} was not ready within {START_TIMEOUT_S} s{said}")


async def _answers(client: aiohttp.ClientSession, ready: str, port: int) -> bool:
    try:
        if ready == "tcp":
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return True
        async with client.get(f"http://127.0.0.1:{port}{ready}") as response:
            return response.status < 300
    except (OSError, aiohttp.ClientError, TimeoutError):
        return False


@dataclass(frozen=True)
class Running:
    """A service that is up."""

    name: str
    child: Child
    ports: dict[str, int]
    output: Output

    @property
    def told(self) -> dict[str, dict[str, int]]:
        """What the task file says about it."""
        return {"ports": self.ports}

    def check(self) -> None:
        """Raises HarnessError if it has ended: what a runtime does without it says nothing about the runtime."""
        if self.child.ended.is_set():
            raise HarnessError(f"service {self.name} ended with status {self.child.status}: {self.output.last_line}")


async def start(
    service: Service,
    values: Mapping[str, str],
    folder: Path,
    state: Path,
    forge: Forge,
    client: aiohttp.ClientSession,
    output_of: Callable[[], Output],
) -> Running:
    """Start one of a runtime's services in its folder and wait until it is up; raises HarnessError.

    ``values``: the environment's placeholders; ``state``: the folder that is its own, which is made; ``output_of``: makes
    the place for what it prints.
    """

    async def once() -> Running:
        output = output_of()
        shutil.rmtree(state, ignore_errors=True)
        state.mkdir(parents=True)  # noqa: ASYNC240 - one folder, in our own scratch
        texts = (*service.command, *service.environment.values())
        named = dict.fromkeys(found or MAIN for text in texts for found in _PORT.findall(text))
        ports = {name: free_port() for name in named}
        known = {
            **values,
            "state": str(state),
            **{"port" if name == MAIN else f"port.{name}": str(port) for name, port in ports.items()},
        }
        variables = dict(zip(service.environment, fill(tuple(service.environment.values()), **known), strict=True))
        with output.places() as places:
            child = await forge.spawn(Program(fill(service.command, **known), environment(variables), folder, places))
        if ports:
            await up(client, f"service {service.name}", service.ready, child, next(iter(ports.values())), output)
        return Running(service.name, child, ports, output)

    return await on_free_ports(once)

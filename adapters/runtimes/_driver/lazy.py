"""What frameworks and clients import only on their way, imported before: every fork of a warm interpreter then has it."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module


def load(*names: str) -> None:
    """Import these modules, as far as this environment has them."""
    for name in names:
        with suppress(ImportError):
            import_module(name)


load(
    "anyio._backends._asyncio",
    "anyio._core._subprocesses",
    "anyio.abc._testing",
    "anyio.streams.stapled",
    "anyio.streams.tls",
    "attrs",
    "concurrent.futures.thread",
    "h11",
    "httpcore",
    "httpcore2",
    "jsonschema",
    "mcp.client.stdio",
    "mcp.client.streamable_http",
    "openai.resources.chat.chat",
    "openai.resources.responses",
    "pprint",
    "rpds",
    "sqlite3",
    "truststore",
)

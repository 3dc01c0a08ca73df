"""One unit of work of a durable engine: one call over a connection of its own, with the official Python SDK 2.x."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import jsonschema  # noqa: F401 - the SDK imports it inside its first call
import mcp.client.streamable_http  # noqa: F401 - imported inside the first connection
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from raised import innermost, told
from walk import Answer

Step = Callable[[str, dict[str, Any]], Awaitable[list[str]]]
"""Calls a tool with arguments in the engine's unit of work; gives the receipts, raises what the engine raises."""


class ToolError(Exception):
    """The tool answered that it failed."""


async def call_tool(server: dict[str, Any], timeout_s: float, tool: str, arguments: dict[str, Any]) -> list[str]:
    """The receipts of one call; raises ``ToolError``, or what the SDK raised (not the group that its tasks wrap it in)."""
    if server["transport"] == "http":
        target: Any = server["url"]
    else:
        target = stdio_client(StdioServerParameters(command=server["command"], args=server["args"]))
    try:
        async with Client(target) as client:
            result = await client.call_tool(tool, arguments, read_timeout_seconds=timeout_s)
    except BaseExceptionGroup as group:
        raise innermost(group) from None
    text = "".join(block.text for block in result.content if block.type == "text")
    if result.is_error:
        raise ToolError(text)
    return Answer(result.is_error, result.structured_content, text).receipts


async def in_order(intents: list[dict[str, Any]], step: Step) -> list[dict[str, Any]]:
    """All intents, one step after the other; a step that fails ends its intent with ``error``, later intents go on."""
    found = []
    for intent in intents:
        receipts: list[str] = []
        status, detail = "committed", ""
        for planned in intent["calls"]:
            try:
                receipts += await step(planned["tool"], planned["arguments"])
            except Exception as error:  # noqa: BLE001 - whatever it was, the step failed
                status, detail = "error", told(error.__cause__ or error)
                break
        found.append({"id": intent["id"], "status": status, "receipts": receipts, "detail": detail})
    return found

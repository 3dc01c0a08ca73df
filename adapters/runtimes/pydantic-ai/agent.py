"""A Pydantic AI agent with an MCP toolset; nothing of a run is kept, so a second incarnation begins anew."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

import openai.resources.chat.completions  # noqa: F401 - imported inside the first request
from fastmcp.client.transports import StdioTransport
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from ending import finish
from task import Task


async def work(task: Task) -> list[dict[str, Any]]:
    """The turns, each run with the messages of those before it."""
    told, server = task.model or {}, task.server
    client = AsyncOpenAI(base_url=told["base_url"], api_key=told["api_key"], max_retries=0)
    model = OpenAIChatModel(told["name"], provider=OpenAIProvider(openai_client=client))
    http = server["transport"] == "http"
    target: Any = server["url"] if http else StdioTransport(command=server["command"], args=server["args"])
    agent = Agent(model, toolsets=[MCPToolset(target, id="server", read_timeout=task.timeouts["tool_call_s"])])
    messages: Any = None
    async with agent:
        for turn in task.turns:
            messages = (await agent.run(turn["say"], message_history=messages)).all_messages()
    return []


def main() -> None:
    task = Task.load()
    finish(task, work(task))


if __name__ == "__main__":
    main()

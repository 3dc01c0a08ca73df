"""A Pydantic AI agent with the tools of one MCP server as a toolset."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from fastmcp.client.transports import StdioTransport
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import lazy
from task import Task
from turns import Said, run

lazy.load("genai_prices.data")


def toolset(task: Task) -> MCPToolset:
    """The MCP server, over the transport that the task names."""
    timeout = task.timeouts["tool_call_s"]
    if task.server["transport"] == "stdio":
        return MCPToolset(StdioTransport(task.server["command"], task.server["args"]), read_timeout=timeout)
    return MCPToolset(task.server["url"], read_timeout=timeout)


async def work(task: Task, said: Said) -> None:
    assert task.model is not None
    client = AsyncOpenAI(base_url=task.model["base_url"], api_key=task.model["api_key"], max_retries=0)
    model = OpenAIChatModel(task.model["name"], provider=OpenAIProvider(openai_client=client))
    agent = Agent(model, toolsets=[toolset(task)])
    history: list[ModelMessage] = []
    async with agent:
        for turn in task.turns:
            with said.turn():
                result = await agent.run(turn["say"], message_history=history)
                history = result.all_messages()


if __name__ == "__main__":
    run(work)

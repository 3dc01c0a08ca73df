"""An agent of Microsoft's Agent Framework with the tools of one MCP server and its history in files."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from agent_framework import Agent, FileHistoryProvider, MCPStdioTool, MCPStreamableHTTPTool
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI

import lazy
from task import Task
from turns import Said, run

lazy.load("agent_framework._harness._tool_approval", "tenacity")


def tools(task: Task) -> MCPStdioTool | MCPStreamableHTTPTool:
    """The MCP server, over the transport that the task names; its timeout is a whole number of seconds."""
    settings: dict[str, Any] = {
        "name": "tools",
        "load_prompts": False,
        "request_timeout": math.ceil(task.timeouts["tool_call_s"]),
    }
    if task.server["transport"] == "stdio":
        return MCPStdioTool(command=task.server["command"], args=task.server["args"], **settings)
    return MCPStreamableHTTPTool(url=task.server["url"], **settings)


async def work(task: Task, said: Said) -> None:
    assert task.model is not None
    openai = AsyncOpenAI(base_url=task.model["base_url"], api_key=task.model["api_key"], max_retries=0)
    client = OpenAIChatCompletionClient(model=task.model["name"], async_client=openai)
    history = FileHistoryProvider(task.state_dir / "history")
    before = await history.get_messages(task.workflow_id)
    done = sum(str(message.role) == "user" for message in before)
    async with tools(task) as server, Agent(client=client, tools=server, context_providers=[history]) as agent:
        session = agent.create_session(session_id=task.workflow_id)
        for turn in task.turns[done:]:
            with said.turn():
                await agent.run(turn["say"], session=session)


if __name__ == "__main__":
    run(work)

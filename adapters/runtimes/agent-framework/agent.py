"""An agent of the Microsoft Agent Framework with an MCP tool and a file history."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

import openai.resources.chat.completions  # noqa: F401 - imported inside the first request
from agent_framework import Agent, FileHistoryProvider, MCPStdioTool, MCPStreamableHTTPTool
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI

from ending import finish
from task import Task


def server(task: Task) -> Any:
    """The MCP tool, as the framework's documents show it."""
    timeout = max(1, round(task.timeouts["tool_call_s"]))
    if task.server["transport"] == "http":
        return MCPStreamableHTTPTool(name="server", url=task.server["url"], load_prompts=False, request_timeout=timeout)
    command, args = task.server["command"], task.server["args"]
    return MCPStdioTool(name="server", command=command, args=args, load_prompts=False, request_timeout=timeout)


async def work(task: Task) -> list[dict[str, Any]]:
    """The turns as one session; what its history holds already is gone on with."""
    told = task.model or {}
    client = AsyncOpenAI(base_url=told["base_url"], api_key=told["api_key"], max_retries=0)
    history = FileHistoryProvider(str(task.state_dir / "history"))
    async with server(task) as tool:
        chat = OpenAIChatCompletionClient(model=told["name"], async_client=client)
        agent = Agent(client=chat, name="agent", tools=tool, context_providers=[history])
        session = agent.create_session(session_id=task.workflow_id)
        said = [message for message in await history.get_messages(task.workflow_id) if message.role == "user"]
        for turn in task.turns[len(said) :]:
            await agent.run(turn["say"], session=session)
    return []


def main() -> None:
    task = Task.load()
    finish(task, work(task))


if __name__ == "__main__":
    main()

"""An agent of the OpenAI Agents SDK with an MCP server and a SQLite session; ``retry``: with max_retry_attempts=2."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

import openai.resources.chat.completions  # noqa: F401 - imported inside the first request
from agents import Agent, OpenAIChatCompletionsModel, Runner, SQLiteSession
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from openai import AsyncOpenAI

from ending import finish
from task import Task


def server(task: Task, attempts: int) -> Any:
    """The MCP server as the SDK's documents show it."""
    how: dict[str, Any] = {"client_session_timeout_seconds": task.timeouts["tool_call_s"], "max_retry_attempts": attempts}
    if task.server["transport"] == "http":
        return MCPServerStreamableHttp(params={"url": task.server["url"]}, **how)
    return MCPServerStdio(params={"command": task.server["command"], "args": task.server["args"]}, **how)


async def work(task: Task, attempts: int) -> list[dict[str, Any]]:
    """The turns as one session; what the session says was answered is not said again."""
    told = task.model or {}
    client = AsyncOpenAI(base_url=told["base_url"], api_key=told["api_key"], max_retries=0)
    session = SQLiteSession(task.workflow_id, task.state_dir / "session.sqlite")
    said = [item for item in await session.get_items() if item.get("role") == "user"]
    async with server(task, attempts) as tools:
        agent = Agent(name="agent", model=OpenAIChatCompletionsModel(told["name"], client), mcp_servers=[tools])
        for turn in task.turns[max(0, len(said) - 1) :]:
            again = any(turn["say"] in str(item.get("content")) for item in said)
            await Runner.run(agent, "continue" if again else turn["say"], session=session)
    return []


def main() -> None:
    task = Task.load()
    finish(task, work(task, 2 if "retry" in sys.argv[1:] else 0))


if __name__ == "__main__":
    main()

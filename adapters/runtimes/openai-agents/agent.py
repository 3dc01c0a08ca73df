"""An agent of the OpenAI Agents SDK with the tools of one MCP server and a session in SQLite."""

from __future__ import annotations

import os
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from agents import Agent, OpenAIChatCompletionsModel, Runner, SQLiteSession
from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp
from openai import AsyncOpenAI

from task import Task
from turns import Said, run


def server(task: Task, retries: int) -> MCPServer:
    """The MCP server, over the transport that the task names."""
    settings: dict[str, Any] = {"client_session_timeout_seconds": task.timeouts["tool_call_s"]}
    if retries:
        settings |= {"max_retry_attempts": retries, "retry_backoff_seconds_base": 0.2}
    if task.server["transport"] == "stdio":
        return MCPServerStdio(params={"command": task.server["command"], "args": task.server["args"]}, **settings)
    return MCPServerStreamableHttp(params={"url": task.server["url"]}, **settings)


async def turns_done(session: SQLiteSession) -> int:
    """How many turns the session holds whole: what the user said, and the agent's last word on it."""
    items = [str(item.get("role")) for item in await session.get_items() if item.get("role") in ("user", "assistant")]
    return sum(pair == ("user", "assistant") for pair in pairwise(items))


async def work(task: Task, said: Said, retries: int) -> None:
    assert task.model is not None
    openai = AsyncOpenAI(base_url=task.model["base_url"], api_key=task.model["api_key"], max_retries=0)
    session = SQLiteSession(task.workflow_id, task.state_dir / "sessions.sqlite")
    async with server(task, retries) as tools:
        model = OpenAIChatCompletionsModel(model=task.model["name"], openai_client=openai)
        agent = Agent(name="assistant", model=model, mcp_servers=[tools])
        for turn in task.turns[await turns_done(session) :]:
            with said.turn():
                await Runner.run(agent, turn["say"], session=session)


if __name__ == "__main__":
    run(partial(work, retries=int(sys.argv[1]) if sys.argv[1:] else 0))

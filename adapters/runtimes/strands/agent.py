"""A Strands agent with tools of an MCP client and a file session."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

import openai.resources.chat.completions  # noqa: F401 - imported inside the first request
from mcp import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from strands.models.openai import OpenAIModel
from strands.session.file_session_manager import FileSessionManager
from strands.tools.mcp import MCPClient

from ending import finish
from strands import Agent
from task import Task


def transport(server: dict[str, Any]) -> Any:
    """The server's transport, as the SDK's documents show it."""
    if server["transport"] == "http":
        return streamable_http_client(server["url"])
    return stdio_client(StdioServerParameters(command=server["command"], args=server["args"]))


async def work(task: Task) -> list[dict[str, Any]]:
    """The turns as one session; what the session holds already is gone on with."""
    told = task.model or {}
    arguments = {"base_url": told["base_url"], "api_key": told["api_key"], "max_retries": 0}
    model = OpenAIModel(client_args=arguments, model_id=told["name"])
    with MCPClient(lambda: transport(task.server)) as client:
        tools = client.list_tools_sync()
        for tool in tools:
            tool.timeout = timedelta(seconds=task.timeouts["tool_call_s"])
        session = FileSessionManager(session_id=task.workflow_id, storage_dir=str(task.state_dir))
        agent = Agent(model=model, tools=tools, session_manager=session, callback_handler=None)
        said = str(agent.messages)
        begun = [turn for turn in task.turns if turn["say"] in said]
        if begun and agent.messages[-1]["role"] != "assistant":
            await agent.invoke_async("continue")
        for turn in task.turns[len(begun) :]:
            await agent.invoke_async(turn["say"])
    return []


def main() -> None:
    task = Task.load()
    finish(task, work(task))


if __name__ == "__main__":
    main()

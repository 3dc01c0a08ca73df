"""A Strands agent with the tools of one MCP server and its session in files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from strands.models.openai import OpenAIModel
from strands.session.file_session_manager import FileSessionManager
from strands.tools.mcp import MCPClient

import lazy
from strands import Agent
from task import Task
from turns import Said, run

lazy.load("strands.agent._agent_delegation")


def transport(task: Task) -> Callable[[], Any]:
    """The MCP server, over the transport that the task names."""
    if task.server["transport"] == "stdio":
        parameters = StdioServerParameters(command=task.server["command"], args=task.server["args"])
        return lambda: stdio_client(parameters)
    return lambda: streamable_http_client(task.server["url"])


def turns_done(agent: Agent) -> int:
    """How many turns the restored session holds whole: those that the assistant had the last word on."""
    spoken = [message for message in agent.messages if message["role"] == "assistant"]
    return sum(not any("toolUse" in block for block in message["content"]) for message in spoken)


def work(task: Task, said: Said) -> None:
    assert task.model is not None
    settings = {"base_url": task.model["base_url"], "api_key": task.model["api_key"], "max_retries": 0}
    model = OpenAIModel(client_args=settings, model_id=task.model["name"])
    with MCPClient(transport(task)) as client:
        tools = client.list_tools_sync()
        for tool in tools:
            tool.timeout = timedelta(seconds=task.timeouts["tool_call_s"])
        session = FileSessionManager(session_id=task.workflow_id, storage_dir=str(task.state_dir))
        agent = Agent(model=model, tools=list(tools), session_manager=session, agent_id="assistant", callback_handler=None)
        for turn in task.turns[turns_done(agent) :]:
            with said.turn():
                agent(turn["say"])


if __name__ == "__main__":
    run(work)

"""A Google ADK agent with an MCP toolset, a SQLite session service, and an app that is resumable."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

import openai.resources.chat.completions  # noqa: F401 - imported inside the first request
from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.integrations.openai import OpenAILlm
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.mcp_tool.mcp_session_manager import StdioConnectionParams, StreamableHTTPConnectionParams
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
from google.genai import types
from mcp import StdioServerParameters

from ending import finish
from task import Task

USER = "user"


def server(task: Task) -> McpToolset:
    """The MCP toolset, as the framework's documents show it."""
    timeout = task.timeouts["tool_call_s"]
    if task.server["transport"] == "http":
        http = StreamableHTTPConnectionParams(url=task.server["url"], timeout=timeout, sse_read_timeout=timeout)
        return McpToolset(connection_params=http)
    parameters = StdioServerParameters(command=task.server["command"], args=task.server["args"])
    return McpToolset(connection_params=StdioConnectionParams(server_params=parameters, timeout=timeout))


async def work(task: Task) -> list[dict[str, Any]]:
    """The turns as one session; an invocation that was interrupted is resumed first."""
    told = task.model or {}
    model = OpenAILlm(model=told["name"], base_url=told["base_url"], api_key=told["api_key"])
    agent = LlmAgent(name="agent", model=model, tools=[server(task)])
    app = App(name="bench", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True))
    service = SqliteSessionService(str(task.state_dir / "sessions.sqlite"))
    who = {"user_id": USER, "session_id": task.workflow_id}
    session = await service.get_session(app_name="bench", **who) or await service.create_session(app_name="bench", **who)
    runner = Runner(app=app, session_service=service)
    said = [event for event in session.events if event.author == "user"]
    begins: list[dict[str, Any]] = [{"invocation_id": session.events[-1].invocation_id}] if session.events else []
    begins += [
        {"new_message": types.Content(role="user", parts=[types.Part(text=turn["say"])])} for turn in task.turns[len(said) :]
    ]
    for begin in begins:
        async for _ in runner.run_async(**who, **begin):
            pass
    await runner.close()
    return []


def main() -> None:
    task = Task.load()
    finish(task, work(task))


if __name__ == "__main__":
    main()

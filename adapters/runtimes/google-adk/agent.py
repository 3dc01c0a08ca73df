"""An agent of the Google Agent Development Kit with the tools of one MCP server, sessions in SQLite, resumable."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))
os.environ["NO_GCE_CHECK"] = "true"  # else it asks the network whether this machine is in Google's cloud

from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.integrations.openai import OpenAILlm
from google.adk.runners import Runner
from google.adk.sessions import Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams, StreamableHTTPConnectionParams
from google.genai import types
from mcp import StdioServerParameters
from openai import AsyncOpenAI

import lazy
from task import Task
from turns import Said, run

lazy.load(
    "aiosqlite",
    "google.adk.a2a.agent",
    "google.adk.agents._agent_router",
    "google.adk.auth.auth_preprocessor",
    "google.adk.auth.exchanger.oauth2_credential_exchanger",
    "google.adk.flows.llm_flows.auto_flow",
    "google.adk.live._flow_utils",
    "google.adk.models.google_llm",
    "google.adk.tools._forwarding_artifact_service",
    "google.adk.tools._node_tool",
    "google.adk.tools.agent_tool",
    "google.adk.tools.google_search_tool",
    "google.adk.tools.vertex_ai_search_tool",
    "google.adk.utils._gcp_metadata",
    "google.adk.workflow._llm_agent_wrapper",
    "google.adk.workflow._node_runner_utils",
    "google.adk.workflow._workflow",
)


def toolset(task: Task) -> McpToolset:
    """The MCP server, over the transport that the task names."""
    timeout = task.timeouts["tool_call_s"]
    if task.server["transport"] == "stdio":
        parameters = StdioServerParameters(command=task.server["command"], args=task.server["args"])
        return McpToolset(connection_params=StdioConnectionParams(server_params=parameters, timeout=timeout))
    url = task.server["url"]
    return McpToolset(connection_params=StreamableHTTPConnectionParams(url=url, timeout=timeout, sse_read_timeout=timeout))


def turns_said(session: Session) -> int:
    """How many turns the session holds: an invocation for each."""
    return len({event.invocation_id for event in session.events if event.author == "user"})


def unfinished(session: Session) -> str | None:
    """The invocation that a killed process left; None: the last one came to its final response."""
    if not session.events or (session.events[-1].author != "user" and session.events[-1].actions.end_of_agent):
        return None
    return session.events[-1].invocation_id


async def work(task: Task, said: Said) -> None:
    assert task.model is not None
    openai = AsyncOpenAI(base_url=task.model["base_url"], api_key=task.model["api_key"], max_retries=0)
    model = OpenAILlm(model=task.model["name"], client=openai)
    agent = LlmAgent(name="assistant", model=model, tools=[toolset(task)])
    app = App(name="app", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True))
    sessions = SqliteSessionService(str(task.state_dir / "sessions.sqlite"))
    whose: Any = {"user_id": "user", "session_id": task.workflow_id}
    session = await sessions.get_session(app_name="app", **whose)
    if session is None:
        session = await sessions.create_session(app_name="app", **whose)
    async with Runner(app=app, session_service=sessions) as runner:
        begun = unfinished(session)
        if begun is not None:
            with said.turn():
                async for _ in runner.run_async(invocation_id=begun, **whose):
                    pass
        for turn in task.turns[turns_said(session) :]:
            with said.turn():
                message = types.Content(role="user", parts=[types.Part(text=turn["say"])])
                async for _ in runner.run_async(new_message=message, **whose):
                    pass


if __name__ == "__main__":
    run(work)

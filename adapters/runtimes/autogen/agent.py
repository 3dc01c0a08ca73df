"""An AutoGen assistant with an MCP workbench; its state is saved after each turn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

import json

import openai.resources.chat.completions  # noqa: F401 - imported inside the first request
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.tools.mcp import McpWorkbench, StdioServerParams, StreamableHttpServerParams

from ending import finish
from task import Task

UNKNOWN: Any = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "family": "unknown",
    "structured_output": False,
}


def server(task: Task) -> Any:
    """The server's parameters, as the framework's documents show them."""
    timeout = task.timeouts["tool_call_s"]
    if task.server["transport"] == "http":
        return StreamableHttpServerParams(url=task.server["url"], timeout=timeout, sse_read_timeout=timeout)
    return StdioServerParams(command=task.server["command"], args=task.server["args"], read_timeout_seconds=timeout)


async def work(task: Task) -> list[dict[str, Any]]:
    """The turns, one after the other; those before the saved state are not said again."""
    told = task.model or {}
    endpoint = {"model": told["name"], "base_url": told["base_url"], "api_key": told["api_key"]}
    client = OpenAIChatCompletionClient(**endpoint, max_retries=0, model_info=UNKNOWN)
    saved = task.state_dir / "agent.json"
    state = json.loads(saved.read_text()) if saved.exists() else {"turns": 0, "agent": None}
    async with McpWorkbench(server(task)) as workbench:
        agent = AssistantAgent("agent", model_client=client, workbench=workbench, max_tool_iterations=20)
        if state["agent"] is not None:
            await agent.load_state(state["agent"])
        for turn in task.turns[state["turns"] :]:
            await agent.run(task=turn["say"])
            state = {"turns": state["turns"] + 1, "agent": await agent.save_state()}
            saved.write_text(json.dumps(state))
    return []


def main() -> None:
    task = Task.load()
    finish(task, work(task))


if __name__ == "__main__":
    main()

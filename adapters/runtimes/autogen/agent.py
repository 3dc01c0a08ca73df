"""An AutoGen assistant with the tools of one MCP server as its workbench; its state is saved after each turn."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelFamily
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.tools.mcp import McpWorkbench, StdioServerParams, StreamableHttpServerParams

from task import Task
from turns import Said, run


def workbench(task: Task) -> McpWorkbench:
    """The MCP server, over the transport that the task names."""
    timeout = task.timeouts["tool_call_s"]
    if task.server["transport"] == "stdio":
        command, args = task.server["command"], task.server["args"]
        return McpWorkbench(StdioServerParams(command=command, args=args, read_timeout_seconds=timeout))
    return McpWorkbench(StreamableHttpServerParams(url=task.server["url"], sse_read_timeout=timeout))


async def work(task: Task, said: Said) -> None:
    assert task.model is not None
    model = OpenAIChatCompletionClient(
        model=task.model["name"],
        base_url=task.model["base_url"],
        api_key=task.model["api_key"],
        max_retries=0,
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "family": ModelFamily.UNKNOWN,
            "structured_output": False,
        },
    )
    saved = task.state_dir / "assistant.json"
    done = 0
    async with workbench(task) as tools:
        agent = AssistantAgent("assistant", model_client=model, workbench=tools, max_tool_iterations=10)
        if saved.exists():
            state = json.loads(saved.read_text(encoding="utf-8"))
            done = state["turns"]
            await agent.load_state(state["assistant"])
        for number, turn in enumerate(task.turns[done:], done + 1):
            with said.turn():
                await agent.run(task=turn["say"])
            unfinished = saved.with_suffix(".unfinished")
            unfinished.write_text(json.dumps({"turns": number, "assistant": await agent.save_state()}), encoding="utf-8")
            unfinished.replace(saved)


if __name__ == "__main__":
    run(work)

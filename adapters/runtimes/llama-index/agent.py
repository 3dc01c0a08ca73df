"""A LlamaIndex FunctionAgent with the tools of one MCP server."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context
from llama_index.llms.openai_like import OpenAILike
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

import lazy
from task import Task
from turns import Said, run

lazy.load(
    "tiktoken_ext.openai_public",
    "workflows.plugins.basic",
    "workflows.representation.validate",
    "workflows.runtime.control_loop.runner",
    "workflows.runtime.verbose",
)


def client(task: Task) -> BasicMCPClient:
    """The MCP server, over the transport that the task names."""
    timeout = task.timeouts["tool_call_s"]
    if task.server["transport"] == "stdio":
        return BasicMCPClient(task.server["command"], args=task.server["args"], timeout=timeout)
    return BasicMCPClient(task.server["url"], timeout=timeout)


async def work(task: Task, said: Said) -> None:
    assert task.model is not None
    tools = await McpToolSpec(client=client(task)).to_tool_list_async()
    llm = OpenAILike(
        model=task.model["name"],
        api_base=task.model["base_url"],
        api_key=task.model["api_key"],
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
    )
    agent = FunctionAgent(tools=tools, llm=llm)
    context = Context(agent)
    for turn in task.turns:
        with said.turn():
            await agent.run(turn["say"], ctx=context)


if __name__ == "__main__":
    run(work)

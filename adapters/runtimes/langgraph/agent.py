"""LangGraph and LangChain with tools from an MCP server, as their documents show it.

``agent.py agent DURABILITY``: create_agent with a model, on SQLite checkpoints. ``agent.py tool-retry``: the same, with
ToolRetryMiddleware(). ``agent.py node-retry``: no model; a graph with a node for each call and the default RetryPolicy.
"""

from __future__ import annotations

import operator
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy

import lazy
from task import Task
from turns import Claims, Said, run
from walk import Answer

lazy.load(
    "aiosqlite",
    "langchain_core.messages.block_translators.langchain_v0",
    "langchain_core.tracers.context",
    "langchain_core.tracers.stdout",
    "langchain_openai.chat_models.base",
)


def connection(task: Task) -> dict[str, Any]:
    """The server's entry of MultiServerMCPClient: a session of its own for each call, which is the default."""
    how = {"session_kwargs": {"read_timeout_seconds": timedelta(seconds=task.timeouts["tool_call_s"])}}
    if task.server["transport"] == "http":
        return {"transport": "streamable_http", "url": task.server["url"], **how}
    return {"transport": "stdio", "command": task.server["command"], "args": task.server["args"], **how}


async def converse(
    task: Task, tools: list[BaseTool], saver: AsyncSqliteSaver, durability: Any, middleware: list[Any], said: Said
) -> None:
    """The turns as one thread; what a checkpoint says was begun is gone on with."""
    told = task.model or {}
    model = ChatOpenAI(model=told["name"], base_url=told["base_url"], api_key=told["api_key"], max_retries=0)
    agent = create_agent(model, tools, checkpointer=saver, middleware=middleware)
    config: Any = {"configurable": {"thread_id": task.workflow_id}}
    state = await agent.aget_state(config)
    begun = sum(isinstance(message, HumanMessage) for message in state.values.get("messages", []))
    if state.next:
        with said.turn():
            await agent.ainvoke(None, config, durability=durability)
    for turn in task.turns[begun:]:
        with said.turn():
            await agent.ainvoke({"messages": [HumanMessage(turn["say"])]}, config, durability=durability)


class Walked(TypedDict, total=False):
    """What the graph without a model carries: the text of each call's answer, in order; None: an error."""

    answers: Annotated[list[str | None], operator.add]


async def through(task: Task, tools: list[BaseTool], saver: AsyncSqliteSaver) -> list[dict[str, Any]]:
    """A node for each call, one after the other, each with the default RetryPolicy; returns the outcome's intents."""
    by_name = {tool.name: tool for tool in tools}
    calls = [call for intent in task.intents for call in intent["calls"]]

    def node(call: dict[str, Any]) -> Any:
        async def act(_state: Walked) -> Walked:
            asked = {"type": "tool_call", "id": "1", "name": call["tool"], "args": call["arguments"]}
            message = await by_name[call["tool"]].ainvoke(asked)
            return {"answers": [None if message.status == "error" else message.text]}

        return act

    graph = StateGraph(Walked)
    names = [f"call-{index}" for index, _ in enumerate(calls)]
    for name, call in zip(names, calls, strict=True):
        graph.add_node(name, node(call), retry_policy=RetryPolicy())
    for one, next_one in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(one, next_one)
    compiled = graph.compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": task.workflow_id}}
    state = await compiled.aget_state(config)
    if state.next or not state.values:
        await compiled.ainvoke(None if state.next else {"answers": []}, config, durability="sync")
        state = await compiled.aget_state(config)
    return claims(task, state.values["answers"])


def claims(task: Task, answers: list[str | None]) -> list[dict[str, Any]]:
    """What the graph's state says of each intent, now that it came to its end."""
    left = iter(answers)
    found = []
    for intent in task.intents:
        texts = [next(left) for _ in intent["calls"]]
        receipts = [each for text in texts if text is not None for each in Answer(False, None, text).receipts]
        status = "error" if None in texts else "committed"
        found.append({"id": intent["id"], "status": status, "receipts": receipts})
    return found


async def work(task: Task, said: Said, kind: str, durability: str) -> Claims | None:
    """Run what the arguments name."""
    tools = await MultiServerMCPClient({"server": connection(task)}).get_tools()
    async with AsyncSqliteSaver.from_conn_string(str(task.state_dir / "checkpoints.sqlite")) as saver:
        if kind == "node-retry":
            return await through(task, tools, saver)
        middleware = [ToolRetryMiddleware()] if kind == "tool-retry" else []
        await converse(task, tools, saver, durability, middleware, said)
    return None


if __name__ == "__main__":
    run(partial(work, kind=sys.argv[1], durability="exit" if "exit" in sys.argv[2:] else "sync"))

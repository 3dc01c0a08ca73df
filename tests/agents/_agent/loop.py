"""An agent loop with a place for one planted fault: in how a call is made, in what the model is told, or in what is kept.

The conversation is kept in the state folder, step by step. A call that was under way when the process was killed is not made
again: the model is told that it was interrupted.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "adapters" / "runtimes"))

import anyio
from mcp import Client, StdioServerParameters

from _baseline.outcome import IntentOutcome, Settled, write
from _baseline.reply import Reply
from _baseline.server import Server
from _baseline.task import Request, Task

Json = dict[str, Any]
Make = Callable[[Server, Request], Awaitable[Reply]]
Tell = Callable[[Reply], str]
MODEL_S = 10.0
"""Deadline for one answer of the model."""
__all__ = ["Reply", "Request", "Server", "Stop", "honestly", "once", "run"]
INTERRUPTED = "Error: the call was interrupted; it is not known whether it was executed."


class Stop(Exception):
    """Ends the run where it is: the outcome file is written all the same."""


async def once(server: Server, request: Request) -> Reply:
    """The honest default: one attempt."""
    return await server.call(request)


def honestly(reply: Reply) -> str:
    """The honest default: the result as it came, or the error."""
    if not reply.document.get("content"):
        return f"Error: {reply.detail}"
    return json.dumps(reply.document)


def run(make: Make = once, tell: Tell = honestly, *, keep: bool = True) -> None:
    """Plays the task; the outcome file only says that the run came to its end."""
    logging.disable(logging.CRITICAL)
    raw = json.loads(Path(os.environ["BENCH_TASK"]).read_text(encoding="utf-8"))
    task = Task.parse(raw)
    anyio.run(_Agent(task, raw, make, tell, keep=keep).play)
    ended = [IntentOutcome(intent.id, 1, [Settled("error", (), "the model has the last word")]) for intent in task.intents]
    write(task.outcome_path, ended)


class _Agent:
    def __init__(self, task: Task, raw: Json, make: Make, tell: Tell, *, keep: bool) -> None:
        self._task = task
        self._turns: list[str] = [turn["say"] for turn in raw["turns"]]
        self._model: Json = raw["model"]
        self._make = make
        self._tell = tell
        self._file = task.state_dir / "conversation.json" if keep else None
        self._messages: list[Json] = []
        self._tools: list[Json] = []

    async def play(self) -> None:
        self._messages = self._kept()
        self._tools = await self._offered()
        async with anyio.create_task_group() as tasks:
            server = Server(self._task, tasks)
            said = sum(message["role"] == "user" for message in self._messages)
            with suppress(Stop):
                if said:
                    await self._go_on(server)
                for say in self._turns[said:]:
                    self._add({"role": "user", "content": say})
                    await self._go_on(server)
            await server.close()
            tasks.cancel_scope.cancel()

    async def _go_on(self, server: Server) -> None:
        """Until the model asks for nothing more in this turn."""
        for call in self._unanswered():
            self._add({"role": "tool", "tool_call_id": call["id"], "content": INTERRUPTED})
        while self._messages[-1]["role"] != "assistant":
            self._add(await anyio.to_thread.run_sync(self._ask))
            for call in self._unanswered():
                function = call["function"]
                reply = await self._make(server, Request(function["name"], json.loads(function["arguments"])))
                self._add({"role": "tool", "tool_call_id": call["id"], "content": self._tell(reply)})

    def _unanswered(self) -> list[Json]:
        answered = {message.get("tool_call_id") for message in self._messages}
        asked = [call for message in self._messages for call in message.get("tool_calls") or ()]
        return [call for call in asked if call["id"] not in answered]

    def _ask(self) -> Json:
        """The model's next message, over the chat completions of OpenAI."""
        body = {"model": self._model["name"], "messages": self._messages, "tools": self._tools}
        request = urllib.request.Request(
            f"{self._model['base_url']}/chat/completions",
            json.dumps(body).encode(),
            {"content-type": "application/json", "authorization": f"Bearer {self._model['api_key']}"},
        )
        directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with directly.open(request, timeout=MODEL_S) as answer:
            message: Json = json.load(answer)["choices"][0]["message"]
        return {name: message[name] for name in ("role", "content", "tool_calls") if name in message}

    async def _offered(self) -> list[Json]:
        """The server's tools, as the model is offered them."""
        server = self._task.server
        stdio = server["transport"] == "stdio"
        target = StdioServerParameters(command=server["command"], args=server["args"]) if stdio else server["url"]
        async with Client(target) as client:
            listed = (await client.list_tools()).tools
        return [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
            }
            for tool in listed
        ]

    def _kept(self) -> list[Json]:
        if self._file is None or not self._file.exists():
            return []
        kept: list[Json] = json.loads(self._file.read_text(encoding="utf-8"))
        return kept

    def _add(self, message: Json) -> None:
        self._messages.append(message)
        if self._file is not None:
            unfinished = self._file.with_suffix(".unfinished")
            unfinished.write_text(json.dumps(self._messages), encoding="utf-8")
            unfinished.replace(self._file)

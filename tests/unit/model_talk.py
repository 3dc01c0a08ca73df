"""A runtime's side of a conversation in each dialect: says, asks the model, takes its answer, tells it of the call."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

from benchmark.intents import Call, Change, Intent, Workload
from benchmark.model import chat, messages, responses
from benchmark.model.conversation import Question
from benchmark.model.script import Move, Persona, Script, next_move, script

Json = dict[str, Any]
DESCRIPTIONS = {"charge": "Charges an order.", "send": "Sends a message to each recipient."}
CHARGE = {"order": "1001", "amount": 10000, "currency": "usd"}
OK, BAD = '{"receipt": "ch_1"}', "Error executing tool: timed out"


def workload(*intents: Intent) -> Workload:
    return Workload(name="w", title="W", summary="W.", intents=intents)


def charge(identity: str, **changed: Any) -> Intent:
    call = Call(tool="charge", arguments=CHARGE | changed)
    return Intent(id=identity, say=f"Charge 100.00 USD for {identity}.", calls=(call,))


def about(persona: Persona, *intents: Intent, change: Change | None = None) -> Script:
    return script(workload(*(intents or (charge("one"),))), DESCRIPTIONS, persona, change)


@dataclass(frozen=True)
class Tool:
    name: str
    description: str


TOOLS = (Tool("charge", DESCRIPTIONS["charge"]), Tool("send", DESCRIPTIONS["send"]))


@dataclass
class Talk:
    """One conversation; ``said`` is what the runtime keeps of it."""

    script: Script
    tools: tuple[Tool, ...] = TOOLS
    said: list[Json] = field(default_factory=list)
    schema: ClassVar[Json] = {"type": "object", "properties": {}}

    def say(self, text: str) -> None:
        self.said.append({"role": "user", "content": text})

    def ask(self) -> Move:
        """The model's answer, taken into the conversation as an SDK would."""
        question = self.read(self.body())
        move = next_move(self.script, question)
        self.take(question, move)
        return move

    def body(self) -> Json:
        raise NotImplementedError

    def read(self, body: Json) -> Question:
        raise NotImplementedError

    def take(self, question: Question, move: Move) -> None:
        raise NotImplementedError

    def tell(self, call_id: str, text: str, *, failed: bool = False) -> None:
        raise NotImplementedError

    def turn(self, say: str, told: list[str]) -> list[Json]:
        """A whole turn; what the calls of it are told, one after the other (then the last for ever). Returns the calls."""
        self.say(say)
        calls: list[Json] = []
        while (move := self.ask()).answer.calls:
            for call in move.answer.calls:
                text = told[min(len(calls), len(told) - 1)]
                calls.append({"name": call.name, "arguments": call.arguments, "id": call.id})
                self.tell(call.id, text, failed=text == BAD)
        return calls


class ChatTalk(Talk):
    def body(self) -> Json:
        tools = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": self.schema}}
            for t in self.tools
        ]
        return {"model": "scripted", "messages": [{"role": "system", "content": "Be brief."}, *self.said], "tools": tools}

    def read(self, body: Json) -> Question:
        return chat.read(body)

    def take(self, question: Question, move: Move) -> None:
        self.said.append(chat.whole(question, move.answer)["choices"][0]["message"])

    def tell(self, call_id: str, text: str, *, failed: bool = False) -> None:
        self.said.append({"role": "tool", "tool_call_id": call_id, "content": text})


class MessagesTalk(Talk):
    def body(self) -> Json:
        tools = [{"name": t.name, "description": t.description, "input_schema": self.schema} for t in self.tools]
        return {"model": "scripted", "max_tokens": 9, "system": "Be brief.", "messages": self.said, "tools": tools}

    def read(self, body: Json) -> Question:
        return messages.read(body)

    def take(self, question: Question, move: Move) -> None:
        self.said.append({"role": "assistant", "content": messages.whole(question, move.answer)["content"]})

    def tell(self, call_id: str, text: str, *, failed: bool = False) -> None:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}
        self.said.append({"role": "user", "content": [block]})


@dataclass
class ResponsesTalk(Talk):
    kept: responses.Kept = field(default_factory=responses.Kept)

    def body(self) -> Json:
        tools = [
            {"type": "function", "name": t.name, "description": t.description, "parameters": self.schema} for t in self.tools
        ]
        return {"model": "scripted", "instructions": "Be brief.", "input": self.said, "tools": tools}

    def read(self, body: Json) -> Question:
        return responses.read(body, self.kept)

    def take(self, question: Question, move: Move) -> None:
        self.kept.keep(question, move.answer)
        self.said += responses.whole(question, move.answer)["output"]

    def tell(self, call_id: str, text: str, *, failed: bool = False) -> None:
        self.said.append({"type": "function_call_output", "call_id": call_id, "output": text})


@dataclass
class ReferringTalk(ResponsesTalk):
    """Sends only what is new, and refers to the response before."""

    before: str | None = None

    def body(self) -> Json:
        return super().body() | ({"previous_response_id": self.before} if self.before else {})

    def take(self, question: Question, move: Move) -> None:
        self.kept.keep(question, move.answer)
        self.before = responses.whole(question, move.answer)["id"]
        self.said = []


class TextTalk(ChatTalk):
    """Tells calls and results as text, as smolagents does, and wants the last word by a tool."""

    def body(self) -> Json:
        final = {"name": "final_answer", "description": "The final answer.", "parameters": {"properties": {"answer": {}}}}
        merged: list[Json] = []
        for message in self.said:
            if merged and merged[-1]["role"] == message["role"]:
                merged[-1] = message | {"content": f"{merged[-1]['content']}\n{message['content']}"}
            else:
                merged.append(message)
        body = super().body()
        return body | {"messages": merged, "tools": [*body["tools"], {"type": "function", "function": final}]}

    def say(self, text: str) -> None:
        super().say(f"New task:\n{text}")

    def take(self, question: Question, move: Move) -> None:
        for call in move.answer.calls:
            told = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            self.said.append({"role": "assistant", "content": f"Calling tools:\n{[told]}"})

    def tell(self, call_id: str, text: str, *, failed: bool = False) -> None:
        told = f"Call id: {call_id}\nError:\n{text}\nNow let's retry: take care" if failed else f"Observation:\n{text}"
        self.said.append({"role": "user", "content": told})

    def turn(self, say: str, told: list[str]) -> list[Json]:
        """Ends with the tool that takes the last word."""
        self.say(say)
        calls: list[Json] = []
        while (call := self.ask().answer.calls[0]).name != "final_answer":
            text = told[min(len(calls), len(told) - 1)]
            calls.append({"name": call.name, "arguments": call.arguments, "id": call.id})
            self.tell(call.id, text, failed=text == BAD)
        self.tell(call.id, json.dumps(call.arguments["answer"]))
        return calls


DIALECTS: tuple[type[Talk], ...] = (ChatTalk, MessagesTalk, ResponsesTalk, ReferringTalk, TextTalk)

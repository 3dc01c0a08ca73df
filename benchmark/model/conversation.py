"""A conversation with a model, the same whatever dialect it was sent in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Json = dict[str, Any]


class Garbled(Exception):
    """The request is none of its dialect; the message says what is wrong with it."""

    def __init__(self, message: str, *, parameter: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.code = code


@dataclass(frozen=True)
class Said:
    """A piece of text."""

    who: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True)
class Asked:
    """The model asked for a call; ``arguments`` None: they cannot be read."""

    id: str
    name: str
    arguments: Json | None


@dataclass(frozen=True)
class Told:
    """What the runtime told the model about a call; ``failed``: the dialect has a mark for errors, and it is set."""

    id: str
    text: str
    failed: bool = False


Item = Said | Asked | Told


@dataclass(frozen=True)
class Offered:
    """A tool as the runtime offers it: renamed, re-described, as it likes."""

    name: str
    description: str
    parameters: Json = field(default_factory=dict)

    @property
    def properties(self) -> frozenset[str]:
        """Names of its arguments; empty where its schema names none."""
        named = self.parameters.get("properties")
        return frozenset(named) if isinstance(named, dict) else frozenset()


@dataclass(frozen=True)
class Conversation:
    """Everything said so far, in order, and the tools on offer."""

    items: tuple[Item, ...]
    tools: tuple[Offered, ...] = ()

    @property
    def identity(self) -> str:
        """Sixteen hexadecimal digits; equal where everything said so far is equal. The tools on offer do not count."""
        told = [[type(item).__name__, asdict(item)] for item in self.items]
        text = json.dumps(told, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class Question:
    """One request to the model, read: the conversation, and how the answer is wanted."""

    conversation: Conversation
    model: str
    stream: bool = False
    usage: bool = True
    """The stream is to end with the usage (chat completions: only where it is asked for)."""
    schema: Json | None = None
    """JSON Schema that a text is to follow; empty: any JSON object; None: any text."""
    forced: str | None = None
    """The tool that must be called, whatever the conversation says (frameworks that want a text in a form force one)."""
    keep: bool = False
    """A later request may refer to the answer (responses)."""
    instructed: bool = False
    """The first item is of this request alone: a later one that refers to the answer does not inherit it (responses)."""


@dataclass(frozen=True)
class Wanted:
    """A call that the model asks for, under the name of the tool on offer."""

    id: str
    name: str
    arguments: Json


@dataclass(frozen=True)
class Answer:
    """What the model answers: calls, or else a text."""

    text: str = ""
    calls: tuple[Wanted, ...] = ()

    @property
    def items(self) -> tuple[Item, ...]:
        """The answer as the next request's conversation holds it."""
        if not self.calls:
            return (Said("assistant", self.text),)
        return tuple(Asked(call.id, call.name, call.arguments) for call in self.calls)


@dataclass(frozen=True)
class Tokens:
    """A made-up but steady count: a token for every four characters, at least one."""

    asked: int
    answered: int

    @property
    def total(self) -> int:
        return self.asked + self.answered


def tokens(conversation: Conversation, answer: Answer) -> Tokens:
    """Tokens of a question and its answer."""
    return Tokens(_count(conversation.items), _count(answer.items))


def _count(items: Iterable[Item]) -> int:
    size = sum(len(json.dumps(asdict(item), default=str)) for item in items)
    return max(1, size // 4)


CREATED = 1_760_000_000
"""When every answer was made, in seconds since 1970: a model that is a function of the conversation has no clock."""


def text_of(content: Any) -> str:
    """The text of a content field in any dialect: a string, a list of parts, nothing."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for part in content if (text := _part(part)))
    if content is None:
        return ""
    return json.dumps(content, ensure_ascii=False)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        for name in ("text", "output_text", "refusal", "content"):
            if isinstance(part.get(name), str):
                return str(part[name])
    return ""


def arguments_of(raw: Any) -> Json | None:
    """The arguments of a call, given as JSON text or as an object; None for anything else."""
    if isinstance(raw, str):
        try:
            raw = json.loads(raw or "{}")
        except ValueError:
            return None
    return raw if isinstance(raw, dict) else None


def entries(value: Any, name: str) -> list[Json]:
    """A field that must be a list of objects; raises Garbled."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise Garbled(f"'{name}' must be a list of objects", parameter=name)
    return value


def word(value: Any, name: str, default: str = "") -> str:
    """A field that must be a string; raises Garbled."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise Garbled(f"'{name}' must be a string", parameter=name)
    return value


def offered(holder: Json, parameters: Any) -> Offered:
    """A tool on offer, from what holds its name and description; raises Garbled."""
    schema = parameters if isinstance(parameters, dict) else {}
    return Offered(word(holder.get("name"), "name"), word(holder.get("description"), "description"), schema)


def form(wanted: Any, inside: str | None = None) -> Json | None:
    """The JSON Schema that a text is to follow, as ``Question.schema``; ``inside``: the key of ``wanted`` that holds it."""
    if not isinstance(wanted, dict) or wanted.get("type") not in ("json_object", "json_schema"):
        return None
    holder = wanted if inside is None else wanted.get(inside)
    schema = holder.get("schema") if isinstance(holder, dict) else None
    return schema if isinstance(schema, dict) else {}


def chosen(choice: Any) -> tuple[bool, str | None]:
    """(whether tools may be called, the one that must be) of a ``tool_choice`` in any dialect."""
    kind = choice.get("type") if isinstance(choice, dict) else choice
    if kind == "none":
        return False, None
    if not isinstance(choice, dict):
        return True, None
    function = choice.get("function")
    name = function.get("name") if isinstance(function, dict) else choice.get("name")
    return True, name if isinstance(name, str) else None


def instance(schema: Json, deep: int = 8) -> Any:
    """The smallest value that a JSON Schema allows, near enough for a request that is not about tools."""
    if deep <= 0 or not isinstance(schema, dict):
        return None
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    for name in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(name), list) and schema[name]:
            return instance(schema[name][0], deep - 1)
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        kind = kind[0] if kind else "null"
    if kind == "object":
        named = schema.get("properties")
        named = named if isinstance(named, dict) else {}
        required = schema.get("required")
        required = required if isinstance(required, list) else list(named)
        return {name: instance(named.get(name, {"type": "string"}), deep - 1) for name in required if isinstance(name, str)}
    return {"string": "-", "integer": 0, "number": 0, "boolean": False, "array": []}.get(str(kind))

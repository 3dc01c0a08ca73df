"""The dialect of OpenAI's responses (``POST /v1/responses``), with ``previous_response_id`` and references to earlier items.

What earlier answers held is state of the service, not of the runtime: the wire keeps it, this module only says what to keep.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmark.model.conversation import (
    CREATED,
    Answer,
    Asked,
    Conversation,
    Garbled,
    Item,
    Json,
    Offered,
    Question,
    Said,
    Told,
    arguments_of,
    chosen,
    entries,
    form,
    offered,
    text_of,
    tokens,
    word,
)


@dataclass
class Kept:
    """Earlier answers of one cell: id of a response → the conversation up to it; id of an item → the item."""

    responses: dict[str, tuple[Item, ...]] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)

    def keep(self, question: Question, answer: Answer) -> None:
        """Remember an answer, where it is to be kept."""
        if not question.keep:
            return
        said = question.conversation.items[1 if question.instructed else 0 :]
        self.responses[_id(question)] = said + answer.items
        for entry, item in zip(_output(question, answer), answer.items, strict=True):
            self.items[entry["id"]] = item


def read(body: Json, kept: Kept) -> Question:
    """The question in a request; raises Garbled."""
    before = body.get("previous_response_id")
    if before is not None and before not in kept.responses:
        raise Garbled(
            f"Previous response with id {str(before)[:80]!r} not found.",
            parameter="previous_response_id",
            code="previous_response_not_found",
        )
    instructions = text_of(body.get("instructions"))
    items: list[Item] = [Said("system", instructions)] if instructions else []
    items += kept.responses.get(str(before), ())
    given = body.get("input")
    if isinstance(given, str):
        items.append(Said("user", given))
    else:
        items += [item for entry in entries(given, "input") for item in _items(entry, kept)]
    if not items:
        raise Garbled("Missing required parameter: 'input'.", parameter="input", code="missing_required_parameter")
    allowed, forced = chosen(body.get("tool_choice"))
    return Question(
        Conversation(tuple(items), tuple(_tools(body)) if allowed else ()),
        forced=forced,
        model=word(body.get("model"), "model", "scripted"),
        stream=body.get("stream") is True,
        schema=form(text.get("format") if isinstance(text := body.get("text"), dict) else None),
        keep=body.get("store") is not False,
        instructed=bool(instructions),
    )


def _items(entry: Json, kept: Kept) -> Iterator[Item]:
    match entry.get("type", "message"):
        case "message":
            role = entry.get("role")
            if role not in ("system", "developer", "user", "assistant"):
                raise Garbled(f"an input message has the role {str(role)[:40]!r}", parameter="input.role")
            yield Said("system" if role == "developer" else role, text_of(entry.get("content")))
        case "function_call":
            yield Asked(
                word(entry.get("call_id"), "call_id"),
                word(entry.get("name"), "name"),
                arguments_of(entry.get("arguments")),
            )
        case "function_call_output":
            yield Told(word(entry.get("call_id"), "call_id"), text_of(entry.get("output")))
        case "item_reference":
            found = kept.items.get(word(entry.get("id"), "id"))
            if found is None:
                raise Garbled(f"Item with id {str(entry.get('id'))[:80]!r} not found.", parameter="input", code="not_found")
            yield found
        case _:
            pass  # reasoning, calls of hosted tools: nothing that the script reads


def _tools(body: Json) -> Iterator[Offered]:
    for tool in entries(body.get("tools"), "tools"):
        if tool.get("type") == "function":
            yield offered(tool, tool.get("parameters"))


def whole(question: Question, answer: Answer) -> Json:
    """The answer in one piece."""
    return _response(question, answer, "completed")


def pieces(question: Question, answer: Answer) -> Iterator[tuple[str, Json]]:
    """(type, event) of the answer's event stream."""
    begun = _response(question, answer, "in_progress")
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(_output(question, answer)):
        events += [{"output_index": index, **event} for event in _item_events(item)]
    events.append({"type": "response.completed", "response": whole(question, answer)})
    for number, event in enumerate(events):
        yield event["type"], {**event, "sequence_number": number}


def _item_events(item: Json) -> Iterator[Json]:
    message = item["type"] == "message"
    begun: Json = {"content": []} if message else {"arguments": ""}
    yield {"type": "response.output_item.added", "item": {**item, "status": "in_progress", **begun}}
    if message:
        part = item["content"][0]
        place = {"item_id": item["id"], "content_index": 0}
        yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
        yield {"type": "response.output_text.delta", **place, "delta": part["text"], "logprobs": []}
        yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **place, "part": part}
    else:
        told = {"item_id": item["id"], "name": item["name"]}
        yield {"type": "response.function_call_arguments.delta", "item_id": item["id"], "delta": item["arguments"]}
        yield {"type": "response.function_call_arguments.done", **told, "arguments": item["arguments"]}
    yield {"type": "response.output_item.done", "item": item}


def _id(question: Question) -> str:
    return f"resp_{question.conversation.identity}"


def _output(question: Question, answer: Answer) -> list[Json]:
    """The items of the answer, complete."""
    place = question.conversation.identity
    if not answer.calls:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        message = {"type": "message", "id": f"msg_{place}", "role": "assistant", "status": "completed", "content": [part]}
        return [message]
    return [
        {
            "type": "function_call",
            "id": f"fc_{place}_{index}",
            "call_id": call.id,
            "name": call.name,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        for index, call in enumerate(answer.calls)
    ]


def _response(question: Question, answer: Answer, status: str) -> Json:
    done = status == "completed"
    return {
        "id": _id(question),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": question.model,
        "output": _output(question, answer) if done else [],
        "parallel_tool_calls": False,
        "previous_response_id": None,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(question, answer) if done else None,
    }


def _usage(question: Question, answer: Answer) -> Json:
    count = tokens(question.conversation, answer)
    return {
        "input_tokens": count.asked,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": count.answered,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": count.total,
    }

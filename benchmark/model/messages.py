"""The dialect of Anthropic's messages (``POST /v1/messages``)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from benchmark.model.conversation import (
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
    offered,
    text_of,
    tokens,
    word,
)


def read(body: Json) -> Question:
    """The question in a request; raises Garbled."""
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise Garbled("messages: at least one message is required", parameter="messages")
    system = text_of(body.get("system"))
    items: list[Item] = [Said("system", system)] if system else []
    for message in entries(body["messages"], "messages"):
        items += _items(message)
    allowed, forced = chosen(body.get("tool_choice"))
    return Question(
        Conversation(tuple(items), tuple(_tools(body)) if allowed else ()),
        forced=forced,
        model=word(body.get("model"), "model", "scripted"),
        stream=body.get("stream") is True,
    )


def _items(message: Json) -> Iterator[Item]:
    role = message.get("role")
    if role not in ("user", "assistant", "system"):
        raise Garbled(f"messages: a message has the role {str(role)[:40]!r}", parameter="messages.role")
    content = message.get("content")
    if isinstance(content, str):
        yield Said(role, content)
        return
    for block in entries(content, "messages.content"):
        match block.get("type"):
            case "text":
                yield Said(role, word(block.get("text"), "text"))
            case "tool_use":
                yield Asked(word(block.get("id"), "id"), word(block.get("name"), "name"), arguments_of(block.get("input")))
            case "tool_result":
                failed = block.get("is_error") is True
                yield Told(word(block.get("tool_use_id"), "tool_use_id"), text_of(block.get("content")), failed)
            case _:
                pass  # images, thinking, documents: nothing that the script reads


def _tools(body: Json) -> Iterator[Offered]:
    for tool in entries(body.get("tools"), "tools"):
        schema = tool.get("input_schema")
        if isinstance(schema, dict):
            yield offered(tool, schema)


def whole(question: Question, answer: Answer) -> Json:
    """The answer in one piece."""
    count = tokens(question.conversation, answer)
    return {
        **_head(question),
        "content": _blocks(answer),
        "stop_reason": _reason(answer),
        "usage": _usage(count.asked, count.answered),
    }


def pieces(question: Question, answer: Answer) -> Iterator[tuple[str, Json]]:
    """(type, event) of the answer's event stream."""
    count = tokens(question.conversation, answer)
    start = {**_head(question), "content": [], "stop_reason": None, "usage": _usage(count.asked, 1)}
    events: list[Json] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(_blocks(answer)):
        events += _block_events(index, block)
    events.append(
        {
            "type": "message_delta",
            "delta": {"stop_reason": _reason(answer), "stop_sequence": None},
            "usage": {"output_tokens": count.answered},
        }
    )
    events.append({"type": "message_stop"})
    for event in events:
        yield event["type"], event


def _block_events(index: int, block: Json) -> Iterator[Json]:
    if block["type"] == "text":
        empty: Json = {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def counted(question: Question) -> Json:
    """The answer to ``/v1/messages/count_tokens``."""
    return {"input_tokens": tokens(question.conversation, Answer()).asked}


def _head(question: Question) -> Json:
    return {
        "id": f"msg_{question.conversation.identity}",
        "type": "message",
        "role": "assistant",
        "model": question.model,
        "stop_sequence": None,
    }


def _blocks(answer: Answer) -> list[Json]:
    if not answer.calls:
        return [{"type": "text", "text": answer.text}]
    return [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in answer.calls]


def _reason(answer: Answer) -> str:
    return "tool_use" if answer.calls else "end_turn"


def _usage(asked: int, answered: int) -> Json:
    return {
        "input_tokens": asked,
        "output_tokens": answered,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }

"""The dialect of OpenAI's chat completions (``POST /v1/chat/completions``)."""

from __future__ import annotations

import json
from collections.abc import Iterator

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

_WHO = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


def read(body: Json) -> Question:
    """The question in a request; raises Garbled."""
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise Garbled("'messages' must be a list with at least one message", parameter="messages")
    items = [item for message in entries(body["messages"], "messages") for item in _items(message)]
    stream = body.get("stream") is True
    options = body.get("stream_options")
    allowed, forced = chosen(body.get("tool_choice"))
    return Question(
        Conversation(tuple(items), tuple(_tools(body)) if allowed else ()),
        forced=forced,
        model=word(body.get("model"), "model", "scripted"),
        stream=stream,
        usage=not stream or (isinstance(options, dict) and options.get("include_usage") is True),
        schema=form(body.get("response_format"), "json_schema"),
    )


def _items(message: Json) -> Iterator[Item]:
    role = word(message.get("role"), "messages.role")
    text = text_of(message.get("content"))
    if role in ("tool", "function"):
        yield Told(word(message.get("tool_call_id"), "messages.tool_call_id") or _name(message), text)
        return
    if role not in _WHO:
        raise Garbled(f"a message has the role {role[:40]!r}", parameter="messages.role")
    if text:
        yield Said(_WHO[role], text)  # type: ignore[arg-type]
    for call in entries(message.get("tool_calls"), "messages.tool_calls"):
        function = call.get("function")
        if isinstance(function, dict):
            yield Asked(word(call.get("id"), "tool_calls.id"), _name(function), arguments_of(function.get("arguments")))


def _name(holder: Json) -> str:
    return word(holder.get("name"), "name")


def _tools(body: Json) -> Iterator[Offered]:
    for tool in entries(body.get("tools"), "tools"):
        function = tool.get("function")
        if isinstance(function, dict):
            yield offered(function, function.get("parameters"))


def whole(question: Question, answer: Answer) -> Json:
    """The answer in one piece."""
    return {
        **_head(question, "chat.completion"),
        "choices": [
            {"index": 0, "message": _message(answer), "logprobs": None, "finish_reason": _reason(answer)},
        ],
        "usage": _usage(question, answer),
    }


def pieces(question: Question, answer: Answer) -> Iterator[str]:
    """The data of the answer's event stream."""
    head = _head(question, "chat.completion.chunk")
    final = {"choices": [], "usage": _usage(question, answer)}
    deltas: list[Json] = [{"role": "assistant", "content": None if answer.calls else ""}]
    if not answer.calls:
        deltas.append({"content": answer.text})
    for index, call in enumerate(_calls(answer)):
        function = call["function"]
        deltas.append({"tool_calls": [{"index": index, **call, "function": {**function, "arguments": ""}}]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": function["arguments"]}}]})
    for delta in deltas:
        yield json.dumps({**head, "choices": [_chunk(delta, None)]})
    yield json.dumps({**head, "choices": [_chunk({}, _reason(answer))]})
    if question.usage:
        yield json.dumps({**head, **final})
    yield "[DONE]"


def _chunk(delta: Json, reason: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


def _head(question: Question, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{question.conversation.identity}",
        "object": kind,
        "created": CREATED,
        "model": question.model,
        "system_fingerprint": "fp_scripted",
    }


def _message(answer: Answer) -> Json:
    if not answer.calls:
        return {"role": "assistant", "content": answer.text, "refusal": None}
    return {"role": "assistant", "content": None, "refusal": None, "tool_calls": _calls(answer)}


def _calls(answer: Answer) -> list[Json]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for call in answer.calls
    ]


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _usage(question: Question, answer: Answer) -> Json:
    count = tokens(question.conversation, answer)
    return {"prompt_tokens": count.asked, "completion_tokens": count.answered, "total_tokens": count.total}

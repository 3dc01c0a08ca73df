"""Each dialect's answer is what its official SDK parses, whole and as a stream of events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.model import chat, messages, responses
from benchmark.model.conversation import Answer, Conversation, Garbled, Question, Said, Wanted, instance

Json = dict[str, Any]
QUESTION = Question(Conversation((Said("user", "Hello"),)), "scripted", stream=True)
TEXT = Answer("That is all.")
CALL = Answer(calls=(Wanted("call_0x1_00000000", "charge", {"order": "1001", "amount": 10000}),))
ANSWERS = pytest.mark.parametrize("answer", [TEXT, CALL], ids=["text", "call"])


def chat_assembled(pieces: list[str]) -> Json:
    """What an OpenAI SDK makes of the chunks."""
    assert pieces[-1] == "[DONE]"
    chunks = [json.loads(piece) for piece in pieces[:-1]]
    message: Json = {"content": None, "tool_calls": {}}
    for chunk in chunks:
        assert chunk["object"] == "chat.completion.chunk"
        for choice in chunk["choices"]:
            delta = choice["delta"]
            if delta.get("content"):
                message["content"] = (message["content"] or "") + delta["content"]
            for call in delta.get("tool_calls", ()):
                known = message["tool_calls"].setdefault(call["index"], {"arguments": ""})
                known |= {"id": call["id"], "name": call["function"]["name"]} if "id" in call else {}
                known["arguments"] += call["function"]["arguments"]
            message["finish_reason"] = choice["finish_reason"]
    message["usage"] = chunks[-1].get("usage")
    return message


@ANSWERS
def test_chunks_of_a_chat_completion_add_up_to_the_whole(answer: Answer) -> None:
    whole = chat.whole(QUESTION, answer)
    choice = whole["choices"][0]
    found = chat_assembled(list(chat.pieces(QUESTION, answer)))
    assert found["content"] == choice["message"]["content"]
    assert found["finish_reason"] == choice["finish_reason"] == ("tool_calls" if answer.calls else "stop")
    assert found["usage"] == whole["usage"]
    calls = [{"id": call["id"], **call["function"]} for call in choice["message"].get("tool_calls", ())]
    assert list(found["tool_calls"].values()) == calls


def test_a_stream_of_chat_tells_the_usage_only_where_it_is_asked_for() -> None:
    body = {"messages": [{"role": "user", "content": "x"}], "stream": True}
    assert not chat.read(body).usage
    assert chat.read(body | {"stream_options": {"include_usage": True}}).usage
    silent = Question(QUESTION.conversation, "scripted", stream=True, usage=False)
    assert chat_assembled(list(chat.pieces(silent, TEXT)))["usage"] is None


@ANSWERS
def test_events_of_a_response_add_up_to_the_whole(answer: Answer) -> None:
    events = [event for _, event in responses.pieces(QUESTION, answer)]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    assert events[0]["response"]["output"] == []
    assert events[-1] == {
        "type": "response.completed",
        "response": responses.whole(QUESTION, answer),
        "sequence_number": len(events) - 1,
    }
    (item,) = responses.whole(QUESTION, answer)["output"]
    deltas = "".join(event["delta"] for event in events if event["type"].endswith(".delta"))
    assert deltas == (item["content"][0]["text"] if item["type"] == "message" else item["arguments"])
    added = next(event for event in events if event["type"] == "response.output_item.added")
    done = next(event for event in events if event["type"] == "response.output_item.done")
    assert (added["item"]["id"], done["item"]) == (item["id"], item)


@ANSWERS
def test_events_of_a_message_add_up_to_the_whole(answer: Answer) -> None:
    named = list(messages.pieces(QUESTION, answer))
    assert [name for name, _ in named] == [event["type"] for _, event in named]
    assert [name for name, _ in named] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    whole = messages.whole(QUESTION, answer)
    start, block, delta = named[0][1]["message"], named[1][1]["content_block"], named[2][1]["delta"]
    if delta["type"] == "text_delta":
        block = block | {"text": delta["text"]}
    else:
        block = block | {"input": json.loads(delta["partial_json"])}
    assert [block] == whole["content"]
    assert named[4][1]["delta"]["stop_reason"] == whole["stop_reason"]
    assert {name: start[name] for name in ("id", "role", "model")} == {n: whole[n] for n in ("id", "role", "model")}


@pytest.mark.parametrize(
    ("read", "body"),
    [
        (chat.read, {}),
        (chat.read, {"messages": []}),
        (chat.read, {"messages": "hello"}),
        (chat.read, {"messages": ["hello"]}),
        (chat.read, {"messages": [{"role": "king", "content": "x"}]}),
        (chat.read, {"messages": [{"role": "user", "content": "x"}], "tools": {"a": 1}}),
        (messages.read, {"messages": []}),
        (messages.read, {"messages": [{"role": "user", "content": [1]}]}),
        (lambda body: responses.read(body, responses.Kept()), {}),
        (lambda body: responses.read(body, responses.Kept()), {"input": "x", "previous_response_id": "resp_none"}),
        (lambda body: responses.read(body, responses.Kept()), {"input": [{"type": "item_reference", "id": "fc_none"}]}),
    ],
)
def test_what_is_none_of_the_dialect_is_refused(read: Any, body: Json) -> None:
    with pytest.raises(Garbled):
        read(body)


def test_items_of_a_kept_response_can_be_referred_to_one_by_one() -> None:
    kept = responses.Kept()
    question = responses.read({"input": "Hello", "instructions": "Be brief."}, kept)
    kept.keep(question, CALL)
    (item,) = responses.whole(question, CALL)["output"]
    body = {"input": [{"role": "user", "content": "Hello"}, {"type": "item_reference", "id": item["id"]}]}
    referred = responses.read(body, kept).conversation
    told = responses.read({"input": [{"role": "user", "content": "Hello"}, item]}, kept).conversation
    assert referred == told


def test_instructions_are_those_of_one_request() -> None:
    kept = responses.Kept()
    question = responses.read({"input": "Hello", "instructions": "Be brief."}, kept)
    kept.keep(question, TEXT)
    before = responses.whole(question, TEXT)["id"]
    later = responses.read({"input": "And?", "previous_response_id": before}, kept).conversation
    assert [item.text for item in later.items if isinstance(item, Said)] == ["Hello", "That is all.", "And?"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "required", "enum", "anyOf", "items", "const"]), JSON))
def test_whatever_schema_is_sent_there_is_a_value(schema: Json) -> None:
    json.dumps(instance(schema))

"""The model wire over real HTTP: what is answered, refused and written down."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.history import Event, Kind
from benchmark.intents import Change
from benchmark.model.script import Persona, Script
from benchmark.recorder import Recorder
from benchmark.wires.hub import Hub
from benchmark.wires.model import ModelWire
from tests.unit.model_talk import BAD, OK, ChatTalk, about, charge

Json = dict[str, Any]
Ask = Callable[..., Awaitable[tuple[int, str]]]
CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"


class Fault:
    """Lets every message pass, or kills at the first."""

    def __init__(self, passes: bool) -> None:
        self.passes = passes
        self.asked: list[str | None] = []

    async def on_message(self, method: str | None, incarnation: int) -> bool:
        self.asked.append(method)
        return self.passes


class Stage:
    """As much of a scene as the wire touches."""

    def __init__(self, url: str, *, passes: bool = True, most: int = 1 << 20) -> None:
        self.hub_url = url
        self.token = "token"
        self.incarnation = 1
        self.dead: set[int] = set()
        self.recorder = Recorder()
        self.fault = Fault(passes)
        self.refused: list[str] = []
        self._left = most

    def may_say(self, size: int) -> bool:
        self._left -= size
        return self._left >= 0

    def refuse(self, why: str) -> None:
        self.refused.append(why)

    async def never(self) -> None: ...


def over(script: Script, play: Callable[[Ask, Stage], Awaitable[None]], **settings: Any) -> list[Event]:
    """Play against a real wire; any failure of the wire's own fails the test. Returns the events."""
    failures: list[Exception] = []
    changed: list[int] = []

    async def run() -> list[Event]:
        hub = Hub()
        await hub.start()
        stage = Stage(hub.url, **settings)
        wire = ModelWire(stage, script, lambda: changed.append(len(stage.recorder.events)))  # type: ignore[arg-type]
        hub.register("m", stage.token, wire.handle, failures.append)
        root = wire.task_model()["anthropic_base_url"]
        async with aiohttp.ClientSession() as client:

            async def ask(
                path: str, body: Any = None, *, method: str = "POST", raw: bytes | None = None, **headers: str
            ) -> Any:
                data = io.BytesIO(raw if raw is not None else json.dumps(body).encode())
                async with client.request(
                    method, root + path, data=data if method == "POST" else None, headers=headers
                ) as got:
                    return got.status, await got.text()

            try:
                await play(ask, stage)
            finally:
                await hub.stop()
        return stage.recorder.events

    events = asyncio.run(run())
    assert failures == []
    for place in changed:
        assert events[place - 1].kind is Kind.MODEL_REQUEST
    return events


def first_question(**more: Any) -> Json:
    talk = ChatTalk(about(Persona.ONCE))
    talk.say("Charge 100.00 USD for one.")
    return talk.body() | more


def test_an_exchange_stands_in_the_history_before_it_is_answered() -> None:
    talk = ChatTalk(about(Persona.RETRY))
    talk.say("Charge 100.00 USD for one.")

    async def play(ask: Ask, stage: Stage) -> None:
        for told in (BAD, OK, None):
            status, text = await ask(CHAT, talk.body())
            assert status == 200
            message = json.loads(text)["choices"][0]["message"]
            talk.said.append(message)
            if told is not None:
                talk.tell(message["tool_calls"][0]["id"], told)

    events = over(talk.script, play)
    assert [event.kind for event in events] == [Kind.MODEL_REQUEST, Kind.MODEL_REPLY] * 3
    assert [event.exchange for event in events] == [1, 1, 2, 2, 3, 3]
    last = events[4].asking
    assert last is not None
    assert [(told.declared, told.nth, told.word, told.receipts) for told in last.told] == [
        (0, 1, "error", ()),
        (0, 2, "success", ("ch_1",)),
    ]
    asked = [[(call.tool, call.declared, call.nth) for call in event.asked or ()] for event in events[1::2]]
    assert asked == [[("charge", 0, 1)], [("charge", 0, 2)], []]
    assert len({event.asking.identity for event in events if event.asking is not None}) == 3


def test_the_plan_is_changed_before_the_changed_reply_is_sent() -> None:
    talk = ChatTalk(about(Persona.REPAIR, change=Change(intent="one", argument="amount", value=11000)))
    talk.say("Charge 100.00 USD for one.")

    async def play(ask: Ask, stage: Stage) -> None:
        talk.tell(talk.ask().answer.calls[0].id, BAD)
        await ask(CHAT, talk.body())

    _, reply = over(talk.script, play)
    (call,) = reply.asked or ()
    assert (call.changed, call.arguments["amount"]) == (True, 11000)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CHAT, {"messages": []}),
        (CHAT, [1]),
        (RESPONSES, {"input": "x", "previous_response_id": "resp_0"}),
        (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "text", "text": 1}]}]}),
        (MESSAGES + "/count_tokens", {}),
    ],
)
def test_garbage_is_refused_in_the_dialects_own_words_and_noted(path: str, body: Any) -> None:
    async def play(ask: Ask, stage: Stage) -> None:
        status, text = await ask(path, body)
        assert status == 400
        assert json.loads(text)["error"]["message"]
        assert ("type" in json.loads(text)) == path.startswith(MESSAGES)
        assert stage.refused

    assert over(about(Persona.ONCE), play) == []


def test_what_is_no_json_or_too_deep_is_refused() -> None:
    async def play(ask: Ask, stage: Stage) -> None:
        for raw in (b"", b"{", b'{"a": "\\ud800"}', b'{"messages":' + b"[" * 100 + b"]" * 100 + b"}", b"\xff"):
            assert (await ask(CHAT, raw=raw))[0] == 400
        assert (await ask(CHAT, raw=b" " * (2 << 20)))[0] == 413

    assert over(about(Persona.ONCE), play, most=1 << 30) == []


def test_models_are_listed_for_both_sdks_and_nothing_else_is_there() -> None:
    async def play(ask: Ask, stage: Stage) -> None:
        status, text = await ask("/v1/models", method="GET")
        assert (status, json.loads(text)["object"]) == (200, "list")
        status, text = await ask("/v1/models", method="GET", **{"anthropic-version": "2023-06-01"})
        assert (status, json.loads(text)["has_more"]) == (200, False)
        assert (await ask("/v1/models/scripted", method="GET"))[0] == 200
        assert (await ask("/v1/models/other", method="GET"))[0] == 404
        assert (await ask("/v1/embeddings", {"input": "x"}))[0] == 404
        assert (await ask(MESSAGES + "/count_tokens?beta=true", {"messages": [{"role": "user", "content": "x"}]}))[0] == 200

    assert over(about(Persona.ONCE), play) == []


def test_a_message_at_which_the_runtime_is_killed_is_neither_answered_nor_written_down() -> None:
    async def play(ask: Ask, stage: Stage) -> None:
        with pytest.raises(aiohttp.ClientError):
            await ask(CHAT, first_question())
        assert stage.fault.asked == [f"model request {CHAT}"]

    assert over(about(Persona.ONCE), play, passes=False) == []


def test_a_killed_incarnation_asks_nothing_any_more() -> None:
    async def play(ask: Ask, stage: Stage) -> None:
        stage.dead.add(1)
        with pytest.raises(aiohttp.ClientError):
            await ask(CHAT, first_question())

    assert over(about(Persona.ONCE), play) == []


def test_who_says_too_much_is_cut_off() -> None:
    async def play(ask: Ask, stage: Stage) -> None:
        assert (await ask(CHAT, first_question()))[0] == 429

    assert over(about(Persona.ONCE), play, most=10) == []


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_a_stream_is_an_event_stream(path: str) -> None:
    body = first_question(stream=True) | {"input": "x"}
    if path != CHAT:
        body |= {"tools": [], "messages": [{"role": "user", "content": "x"}]}

    async def play(ask: Ask, stage: Stage) -> None:
        status, text = await ask(path, body)
        assert status == 200
        assert all(block.startswith(("data: ", "event: ")) for block in text.strip().split("\n\n"))
        assert text.endswith("\n\n")

    assert "streaming" in (over(about(Persona.ONCE), play)[0].detail or "")


WORDS = st.sampled_from(
    ["user", "assistant", "tool", "function_call", "function_call_output", "tool_use", "text", "charge", "{"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "tool_calls", "id", "function", "name", "arguments", "output", "text"]
            )
            | st.text(max_size=3),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
FIELDS = [
    "messages",
    "input",
    "tools",
    "system",
    "instructions",
    "stream",
    "stream_options",
    "response_format",
    "text",
    "model",
]


@settings(max_examples=60)
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON), min_size=1, max_size=4))
def test_whatever_is_sent_the_wire_answers_or_refuses(bodies: list[Json]) -> None:
    async def play(ask: Ask, stage: Stage) -> None:
        for body in bodies:
            for path in (CHAT, RESPONSES, MESSAGES):
                status, _ = await ask(path, body)
                assert status in (200, 400)

    over(about(Persona.RETRY, charge("one"), charge("two")), play, most=1 << 30)

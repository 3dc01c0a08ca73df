"""The script: a pure function of the conversation, the same in every dialect, within the limits of its persona."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.intents import Call, Change, Intent
from benchmark.model import chat
from benchmark.model.script import LAST_WORD, MOST_ATTEMPTS, NO_TASK, Persona, next_move, understanding
from tests.unit.model_talk import BAD, CHARGE, DIALECTS, OK, ChatTalk, ReferringTalk, Talk, TextTalk, Tool, about, charge

TWO = Intent(
    id="both",
    say="Charge and tell.",
    calls=(Call(tool="charge", arguments=CHARGE), Call(tool="send", arguments={"recipients": ["a@b.c"], "subject": "s"})),
)
every_dialect = pytest.mark.parametrize("dialect", DIALECTS)
Told = list[str]


def names(calls: list[dict[str, Any]]) -> list[str]:
    return [call["name"] for call in calls]


@every_dialect
@pytest.mark.parametrize(
    ("persona", "told", "asked"),
    [
        (Persona.ONCE, [OK], 1),
        (Persona.ONCE, [BAD], 1),
        (Persona.RETRY, [OK], 1),
        (Persona.RETRY, [BAD, OK], 2),
        (Persona.RETRY, [BAD], MOST_ATTEMPTS),
        (Persona.REPAIR, [BAD, BAD, OK], 3),
        (Persona.RETRY, ["", OK], 1),
    ],
)
def test_a_persona_asks_again_only_when_told_of_an_error(
    dialect: type[Talk], persona: Persona, told: Told, asked: int
) -> None:
    assert names(dialect(about(persona)).turn("Charge 100.00 USD for one.", told)) == ["charge"] * asked


@given(
    st.sampled_from(Persona),
    st.lists(st.lists(st.sampled_from([OK, BAD, ""]), min_size=1, max_size=4), min_size=2, max_size=2),
)
def test_the_dialects_lead_to_the_same_askings(persona: Persona, told: list[Told]) -> None:
    plan = about(persona, charge("one"), TWO)
    found = []
    for dialect in DIALECTS:
        talk = dialect(plan)
        turns = [talk.turn(turn.say, each) for turn, each in zip(plan.turns, told, strict=True)]
        found.append([[(call["name"], call["arguments"]) for call in calls] for calls in turns])
    assert found == [found[0]] * len(DIALECTS)
    for calls in found[0]:
        assert len(calls) <= (1 if persona is Persona.ONCE else MOST_ATTEMPTS) * 2


@given(st.sampled_from(Persona), st.lists(st.sampled_from([OK, BAD, ""]), min_size=1, max_size=4), st.sampled_from(DIALECTS))
def test_the_same_conversation_gets_the_same_answer_whoever_sends_it(
    persona: Persona, told: Told, dialect: type[Talk]
) -> None:
    """Another process, another order of requests: the script remembers nothing."""
    talk = dialect(about(persona, charge("one"), TWO))
    talk.turn("Charge 100.00 USD for one.", told)
    talk.say("Charge and tell.")
    body = talk.body()
    again = copy.deepcopy(body)
    first = next_move(talk.script, talk.read(body))
    next_move(talk.script, talk.read({**body, "model": "another"}))
    assert next_move(about(persona, charge("one"), TWO), talk.read(again)) == first


@given(st.sampled_from(Persona), st.lists(st.sampled_from([OK, BAD]), min_size=1, max_size=4))
def test_the_model_never_invents_an_argument(persona: Persona, told: Told) -> None:
    change = Change(intent="one", argument="memo", value="as agreed")
    talk = ChatTalk(about(persona, charge("one", memo="x"), change=change))
    for call in talk.turn("Charge 100.00 USD for one.", told):
        assert call["arguments"] in (CHARGE | {"memo": "x"}, CHARGE | {"memo": "as agreed"})


@every_dialect
def test_repair_changes_the_argument_once_it_is_told_of_an_error(dialect: type[Talk]) -> None:
    change = Change(intent="one", argument="amount", value=11000)
    calls = dialect(about(Persona.REPAIR, change=change)).turn("Charge 100.00 USD for one.", [BAD, OK])
    assert [call["arguments"]["amount"] for call in calls] == [10000, 11000]


@every_dialect
def test_twins_are_told_apart_by_their_turns(dialect: type[Talk]) -> None:
    talk = dialect(about(Persona.RETRY, charge("one"), charge("two")))
    calls = talk.turn("Charge 100.00 USD for one.", [BAD, OK]) + talk.turn("Charge 100.00 USD for two.", [OK])
    talk.say("Thank you.")
    seen = understanding(talk.script, talk.read(talk.body()).conversation)
    assert [(one.declared, one.nth) for one in seen.attempts] == [(0, 1), (0, 2), (1, 1)]
    assert len({call["id"] for call in calls}) == 3


def test_twins_are_told_apart_even_where_the_framework_makes_up_its_own_ids() -> None:
    talk = ChatTalk(about(Persona.RETRY, charge("one"), charge("two")))
    talk.turn("Charge 100.00 USD for one.", [BAD, OK])
    talk.turn("Charge 100.00 USD for two.", [OK])
    text = json.dumps(talk.body())
    for number, message in enumerate(talk.said):
        for call in message.get("tool_calls") or ():
            text = text.replace(call["id"], f"adk-{number}")
    seen = understanding(talk.script, chat.read(json.loads(text)).conversation)
    assert [(one.declared, one.nth) for one in seen.attempts] == [(0, 1), (0, 2), (1, 1)]


@every_dialect
def test_behind_an_error_the_rest_of_the_intent_is_not_asked_for(dialect: type[Talk]) -> None:
    assert names(dialect(about(Persona.ONCE, TWO)).turn("Charge and tell.", [BAD])) == ["charge"]
    assert names(dialect(about(Persona.ONCE, TWO)).turn("Charge and tell.", [OK])) == ["charge", "send"]


def test_parallel_results_in_any_order_are_each_their_own_calls() -> None:
    talk = ChatTalk(about(Persona.RETRY, TWO))
    talk.say("Charge and tell.")
    calls = [
        {"id": f"x{n}", "type": "function", "function": {"name": call.tool, "arguments": json.dumps(call.arguments)}}
        for n, call in enumerate(TWO.calls)
    ]
    talk.said.append({"role": "assistant", "content": None, "tool_calls": calls})
    talk.tell("x1", OK)
    talk.tell("x0", BAD)
    assert talk.ask().answer.calls[0].name == "charge"


@pytest.mark.parametrize("name", ["charge", "mcp_server_a1b2_charge", "server-charge", "srv.charge", "x"])
def test_a_renamed_tool_is_found_by_its_description(name: str) -> None:
    wrapped = f"Tool Name: {name}\nTool Description:  Charges an\norder."
    renamed = (Tool("find_charges", "Finds charges by order."), Tool(name, wrapped))
    assert names(ChatTalk(about(Persona.RETRY), renamed).turn("Charge 100.00 USD for one.", [BAD, OK])) == [name, name]


@pytest.mark.parametrize("name", ["charge", "mcp_server_charge", "server-charge"])
def test_a_tool_that_lost_its_description_is_found_by_its_name(name: str) -> None:
    tools = (Tool("find_charge_by_id", "?"), Tool("surcharge", "?"), Tool(name, ""))
    assert names(ChatTalk(about(Persona.ONCE), tools).turn("Charge 100.00 USD for one.", [OK])) == [name]


def test_a_tool_that_is_not_on_offer_is_not_asked_for() -> None:
    talk = ChatTalk(about(Persona.ONCE), (Tool("send", "Sends a message to each recipient."),))
    talk.say("Charge 100.00 USD for one.")
    move = talk.ask()
    assert (move.lacking, move.answer.calls) == ("charge", ())


@pytest.mark.parametrize(
    "wrapped",
    [
        "Current Task: {}\n\nThis is the expected criteria for your final answer: a word",
        '{{"task": "{}", "context": []}}',
        "{}\n\nBegin!",
    ],
)
def test_the_turn_is_found_in_a_text_that_a_framework_wraps(wrapped: str) -> None:
    talk = ChatTalk(about(Persona.ONCE))
    talk.say(wrapped.format("Charge  100.00 USD\nfor one."))
    assert talk.ask().answer.calls


def test_a_later_turn_is_found_in_a_conversation_that_has_forgotten_the_earlier_ones() -> None:
    talk = ChatTalk(about(Persona.ONCE, charge("one"), charge("two")))
    talk.say("Charge 100.00 USD for two.")
    move = talk.ask()
    assert move.planned is not None
    assert (move.planned.declared, move.nth) == (1, 1)


def test_a_conversation_that_has_forgotten_an_asking_gets_it_again() -> None:
    talk = ChatTalk(about(Persona.ONCE))
    first = talk.turn("Charge 100.00 USD for one.", [OK])
    talk.said.clear()
    assert talk.turn("Charge 100.00 USD for one.", [OK]) == first


def test_the_users_words_said_again_in_one_conversation_are_no_new_turn() -> None:
    talk = ChatTalk(about(Persona.ONCE))
    talk.turn("Charge 100.00 USD for one.", [BAD])
    assert talk.turn("Charge 100.00 USD for one.", [OK]) == []


def test_a_request_about_something_else_gets_a_harmless_text() -> None:
    body = {"messages": [{"role": "user", "content": "Give this chat a title."}]}
    assert next_move(about(Persona.RETRY), chat.read(body)).answer.text == NO_TASK
    titled = {"messages": [{"role": "user", "content": "A title for: Charge 100.00 USD for one."}], "tools": []}
    assert not next_move(about(Persona.RETRY), chat.read(titled)).answer.calls


def test_a_text_has_the_form_that_was_asked_for() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}, "n": {"type": "integer"}}, "required": ["title"]}
    body = {
        "messages": [{"role": "user", "content": "Plan."}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "plan", "schema": schema}},
    }
    assert json.loads(next_move(about(Persona.ONCE), chat.read(body)).answer.text) == {"title": "-"}


def test_the_last_word_goes_through_the_tool_for_it() -> None:
    talk = TextTalk(about(Persona.ONCE))
    talk.say("Charge 100.00 USD for one.")
    talk.tell(talk.ask().answer.calls[0].id, OK)
    (call,) = talk.ask().answer.calls
    assert (call.name, call.arguments) == ("final_answer", {"answer": LAST_WORD})


def test_a_response_that_is_not_kept_cannot_be_referred_to() -> None:
    talk = ReferringTalk(about(Persona.ONCE))
    talk.say("Charge 100.00 USD for one.")
    question = talk.read(talk.body() | {"store": False})
    talk.kept.keep(question, next_move(talk.script, question).answer)
    assert talk.kept.responses == {}


@pytest.mark.parametrize("choice", ["none", {"type": "none"}])
def test_where_no_tool_may_be_called_none_is(choice: Any) -> None:
    talk = ChatTalk(about(Persona.ONCE))
    talk.say("Charge 100.00 USD for one.")
    assert not next_move(talk.script, talk.read(talk.body() | {"tool_choice": choice})).answer.calls


def test_a_tool_that_only_gives_a_text_its_form_is_called_where_it_must_be() -> None:
    form = {"name": "Plan", "parameters": {"type": "object", "properties": {"steps": {"type": "array"}}}}
    body = {
        "messages": [{"role": "user", "content": "Plan: Charge 100.00 USD for one."}],
        "tools": [{"type": "function", "function": form}],
        "tool_choice": {"type": "function", "function": {"name": "Plan"}},
    }
    move = next_move(about(Persona.ONCE), chat.read(body))
    assert [(call.name, call.arguments) for call in move.answer.calls] == [("Plan", {"steps": []})]
    assert move.planned is None


def test_a_forced_tool_of_the_workload_is_asked_for_as_ever() -> None:
    talk = ChatTalk(about(Persona.ONCE))
    talk.say("Charge 100.00 USD for one.")
    forced = {"type": "function", "function": {"name": "charge"}}
    assert next_move(talk.script, talk.read(talk.body() | {"tool_choice": forced})).planned is not None

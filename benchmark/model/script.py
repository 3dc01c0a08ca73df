"""What the model asks for next: a pure function of the conversation, the tools on offer, the turns and the persona.

It asks for one call after another, each as the workload declares it, and waits for what it is told about it; behind a call
that ended in an error the rest of its intent is not asked for. Which calls it has asked for already it reads from the
conversation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

from benchmark.intents import Change, Workload, json_equal
from benchmark.model import offers
from benchmark.model.conversation import Answer, Asked, Conversation, Question, Said, Told, Wanted, instance
from benchmark.model.tellings import Telling, Word, understood
from benchmark.model.transcript import unfolded

MOST_ATTEMPTS = 3
"""How often one declared call is asked for at most: once, and twice more when told of an error."""
LAST_WORD = "That is all."
"""Said where there is nothing left to ask for; never a claim about what happened."""
NO_TASK = "Noted."
"""Said to a request that is not about the user's turns, or offers no tools."""


class Persona(StrEnum):
    """How the model takes an error: it never calls again, calls again, or calls again with a changed argument."""

    ONCE = "once"
    RETRY = "retry"
    REPAIR = "repair"


@dataclass(frozen=True)
class Planned:
    """A declared call as the script asks for it; ``changed``: its arguments when it is asked for again."""

    declared: int
    intent: str
    tool: str
    description: str
    arguments: dict[str, Any]
    changed: dict[str, Any] | None = None


@dataclass(frozen=True)
class Turn:
    """What the user says, and the calls that it authorises, in order."""

    say: str
    calls: tuple[Planned, ...]


@dataclass(frozen=True)
class Script:
    """Everything that decides what the model answers, besides the conversation."""

    turns: tuple[Turn, ...]
    persona: Persona

    @property
    def planned(self) -> tuple[Planned, ...]:
        return tuple(call for turn in self.turns for call in turn.calls)


@dataclass(frozen=True)
class Attempt:
    """One asking for a declared call that the conversation holds, and what was told about it (None: nothing yet)."""

    declared: int
    nth: int
    told: Telling | None
    text: str = ""


@dataclass(frozen=True)
class Understanding:
    """What the model makes of a conversation: the turn it is at (None: it is about none), and its own earlier askings."""

    turn: int | None
    attempts: tuple[Attempt, ...]

    def last(self, declared: int) -> Attempt | None:
        """The latest asking for a declared call."""
        return max((one for one in self.attempts if one.declared == declared), key=lambda one: one.nth, default=None)


@dataclass(frozen=True)
class Move:
    """What the model does next: ``planned`` and ``nth`` where it asks for a call; ``lacking``: a tool not on offer."""

    answer: Answer
    planned: Planned | None = None
    nth: int = 0
    lacking: str | None = None

    @property
    def changed(self) -> bool:
        """It asks with arguments other than those declared."""
        return self.planned is not None and self.nth > 1 and self.planned.changed is not None


def script(workload: Workload, descriptions: dict[str, str], persona: Persona, change: Change | None = None) -> Script:
    """The script of a workload: a turn for each intent; ``change``: what the persona ``repair`` changes."""
    turns: list[Turn] = []
    declared = 0
    for intent in workload.intents:
        calls = []
        for index, call in enumerate(intent.calls):
            changed = None
            if change is not None and (change.intent, change.call) == (intent.id, index):
                changed = {**call.arguments, change.argument: change.value}
            description = descriptions.get(call.tool, "")
            calls.append(Planned(declared, intent.id, call.tool, description, dict(call.arguments), changed))
            declared += 1
        turns.append(Turn(intent.say, tuple(calls)))
    return Script(tuple(turns), persona)


def next_move(about: Script, question: Question) -> Move:
    """What the model answers a question with."""
    conversation = question.conversation
    forced = next((tool for tool in conversation.tools if tool.name == question.forced), None)
    if forced is not None and not any(offers.is_tool(forced.name, each.tool, None) for each in about.planned):
        given = instance(forced.parameters)
        call = Wanted(f"call_form_{conversation.identity[:8]}", forced.name, given if isinstance(given, dict) else {})
        return Move(Answer(calls=(call,)))
    seen = understanding(about, conversation)
    if seen.turn is None or not conversation.tools:
        return Move(Answer(_harmless(question)))
    wanted = _pending(about, seen)
    if wanted is None:
        return Move(_last_word(question))
    planned, nth = wanted
    arguments = planned.changed if nth > 1 and planned.changed is not None else planned.arguments
    offered = offers.find(conversation.tools, planned.tool, planned.description, tuple(arguments))
    if offered is None:
        return Move(Answer(f"There is no tool {planned.tool} on offer."), lacking=planned.tool)
    call = Wanted(call_id(conversation, planned.declared, nth), offered.name, arguments)
    return Move(Answer(calls=(call,)), planned, nth)


def _pending(about: Script, seen: Understanding) -> tuple[Planned, int] | None:
    """The first call of the turn that is still to be asked for, and which asking it is."""
    assert seen.turn is not None
    given_up: set[str] = set()
    for planned in about.turns[seen.turn].calls:
        if planned.intent in given_up:
            continue
        last = seen.last(planned.declared)
        if last is None:
            return planned, 1
        if last.told is None or last.told.word is not Word.ERROR:
            continue
        if about.persona is not Persona.ONCE and last.nth < MOST_ATTEMPTS:
            return planned, last.nth + 1
        given_up.add(planned.intent)
    return None


def _last_word(question: Question) -> Answer:
    conversation = question.conversation
    tool = offers.final_answer(conversation.tools)
    if tool is None:
        return Answer(_harmless(question, LAST_WORD))
    name = next(iter(tool.properties & {"answer"} or sorted(tool.properties)), "answer")
    return Answer(calls=(Wanted(f"call_end_{conversation.identity[:8]}", tool.name, {name: LAST_WORD}),))


def _harmless(question: Question, text: str = NO_TASK) -> str:
    """A text, in the form that was asked for."""
    if question.schema is None:
        return text
    return json.dumps(instance(question.schema) if question.schema else {})


# --- what the conversation holds ---------------------------------------------------------------------------------

_CALL_ID = re.compile(r"(\d{1,3})x(\d)_[0-9a-f]{8}")


def call_id(conversation: Conversation, declared: int, nth: int) -> str:
    """The id of a call: no other position of the conversation, and no other conversation, has it."""
    place = sha256(f"{conversation.identity} {declared} {nth}".encode()).hexdigest()[:8]
    return f"call_{declared}x{nth}_{place}"


def understanding(about: Script, conversation: Conversation) -> Understanding:
    """Where the conversation stands: played through from its beginning, item by item."""
    return _Reader(about, conversation).read()


@dataclass
class _Asking:
    """An asking that is being read; ``planned`` None: a call that is none of the workload's."""

    id: str
    planned: Planned | None
    nth: int
    told: Telling | None = None
    text: str = ""


@dataclass
class _Reader:
    about: Script
    conversation: Conversation
    turn: int | None = None
    askings: list[_Asking] = field(default_factory=list)

    def read(self) -> Understanding:
        for item in unfolded(self.conversation.items):
            match item:
                case Said():
                    self._said(item)
                case Asked():
                    planned, nth = self._asked(item)
                    self.askings.append(_Asking(item.id, planned, nth))
                case Told():
                    self._told(item)
        if self.turn is None:
            self._turn_in("system")
        return Understanding(
            self.turn,
            tuple(Attempt(one.planned.declared, one.nth, one.told, one.text) for one in self.askings if one.planned),
        )

    def _said(self, item: Said) -> None:
        if item.who == "user":
            self._advance(item.text)

    def _turn_in(self, who: str) -> None:
        """Some frameworks hand the user's words on in another role."""
        for item in self.conversation.items:
            if isinstance(item, Said) and item.who == who:
                self._advance(item.text)

    def _advance(self, text: str) -> None:
        """The turns come in order; a text that holds several tells of those before the last."""
        text = _flat(text)
        start = 0 if self.turn is None else self.turn + 1
        for number in range(start, len(self.about.turns)):
            if any(say in text for say in _spellings(self.about.turns[number].say)):
                self.turn = number

    def _asked(self, item: Asked) -> tuple[Planned | None, int]:
        """Which declared call it was: by our own id, else by tool, arguments and position."""
        planned = self.about.planned
        found = _CALL_ID.search(item.id)
        if found and int(found[1]) < len(planned):
            return planned[int(found[1])], int(found[2])
        alike = [one for one in self._candidates() if self._fits(one, item)]
        if not alike:
            return None, 0
        expected = next((one for one in alike if self._due(one)), alike[-1])
        return expected, 1 + sum(one.planned is expected for one in self.askings)

    def _candidates(self) -> Sequence[Planned]:
        """The calls of the turns up to this one, the current turn's first."""
        if self.turn is None:
            return self.about.planned
        turns = self.about.turns
        return (*turns[self.turn].calls, *(call for turn in turns[: self.turn] for call in turn.calls))

    def _fits(self, planned: Planned, item: Asked) -> bool:
        offered = offers.find(self.conversation.tools, planned.tool, planned.description, tuple(planned.arguments))
        if not offers.is_tool(item.name, planned.tool, offered.name if offered else None):
            return False
        given = item.arguments
        if given is None:
            return True
        return any(_holds(given, each) for each in (planned.arguments, planned.changed) if each is not None)

    def _due(self, planned: Planned) -> bool:
        """It has not been asked for yet, or its last asking was told to have ended in an error."""
        mine = [one for one in self.askings if one.planned is planned]
        if not mine:
            return True
        told = mine[-1].told
        again = self.about.persona is not Persona.ONCE and len(mine) < MOST_ATTEMPTS
        return again and told is not None and told.word is Word.ERROR

    def _told(self, item: Told) -> None:
        """A result belongs to the call with its id, else to the first that has none yet, else to the last."""
        mine = [one for one in self.askings if item.id and one.id == item.id]
        waiting = [one for one in self.askings if one.told is None]
        for asking in mine[-1:] or waiting[:1] or self.askings[-1:]:
            asking.told = understood(item.text, failed=item.failed)
            asking.text = item.text


def _holds(given: dict[str, Any], declared: dict[str, Any]) -> bool:
    """A framework may add arguments (its schema's defaults), and none of the declared ones may differ."""
    return all(name in given and json_equal(given[name], value) for name, value in declared.items())


def _flat(text: str) -> str:
    return " ".join(text.split())


def _spellings(say: str) -> Iterator[str]:
    """The user's words as they are, and inside a JSON string."""
    yield _flat(say)
    yield _flat(json.dumps(say)[1:-1])
    yield _flat(json.dumps(say, ensure_ascii=False)[1:-1])

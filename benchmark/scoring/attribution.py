"""Which call every request, commit, answer and receipt of a history belongs to, and which slots every call may fill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from benchmark.contracts import Contract
from benchmark.history import Asked, Event, History, Kind, asks_for_input
from benchmark.intents import json_equal
from benchmark.scoring import answers
from benchmark.scoring.groups import Group, groups_of


class Attribution:
    """Lookups over one history; nothing here changes."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.workload = history.declaration.workload
        self.contracts = history.declaration.contracts
        self.declared_calls = self.workload.declared_calls

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        return groups_of(self.workload)

    @cached_property
    def calls(self) -> dict[int, Event]:
        """Call number → its CALL event, in order."""
        return {event.call: event for event in self.history.of(Kind.CALL) if event.call is not None}

    @cached_property
    def requests(self) -> dict[int, Event]:
        """Request number → its REQUEST event, in order."""
        return {event.request: event for event in self.history.of(Kind.REQUEST) if event.request is not None}

    @cached_property
    def commits(self) -> tuple[Event, ...]:
        return tuple(self.history.of(Kind.COMMIT))

    @cached_property
    def committed_by(self) -> dict[str, int | None]:
        """Receipt → the call whose request committed it."""
        return {receipt: self.call_of(event) for event in self.commits for receipt in event.receipts or ()}

    @cached_property
    def demanded(self) -> frozenset[int]:
        """The calls that the specification demands (SEP-2322): for each request for input the first that gives it."""
        found: set[int] = set()
        for event in self.history.of(Kind.DELIVERED):
            if asks_for_input(event.result):
                again = (n for n, call in self.calls.items() if n not in found and self._gives(call, event))
                found.update(islice(again, 1))
        return frozenset(found)

    def _gives(self, call: Event, asked: Event) -> bool:
        """The call that was asked about, sent again with all the input and the state of the request for it."""
        about, request = self.calls.get(asked.call or 0), answers.payload(asked)
        if about is None or request is None or call.n < asked.n:
            return False
        same = call.tool == about.tool and json_equal(call.arguments, about.arguments)
        given = (call.inputs or {}).keys() == (request.get("inputRequests") or {}).keys()
        return same and given and call.state == request.get("requestState")

    def call_of(self, event: Event) -> int | None:
        """The call an event belongs to: its own, or that of its request."""
        if event.call is not None:
            return event.call
        request = self.requests.get(event.request) if event.request is not None else None
        return request.call if request is not None else None

    def requests_of(self, call: int) -> tuple[Event, ...]:
        return tuple(request for request in self.requests.values() if request.call == call)

    def declared_of(self, call: int | None) -> int | None:
        """The declared call that a call is an attempt at."""
        event = self.calls.get(call) if call is not None else None
        if event is None or event.declared is None or not 0 <= event.declared < len(self.declared_calls):
            return None
        return event.declared

    def groups_of_declared(self, declared: int | None) -> tuple[Group, ...]:
        """The groups that a declared call may fill."""
        if declared is None:
            return ()
        intent, index, _ = self.declared_calls[declared]
        return tuple(g for g in self.groups if any(p.intent == intent and p.slot.call == index for p in g.places))

    def declared_in(self, group: Group) -> tuple[int, ...]:
        """Indices of the declared calls that fill a group."""
        wanted = {(place.intent, place.slot.call) for place in group.places}
        return tuple(n for n, (intent, index, _) in enumerate(self.declared_calls) if (intent, index) in wanted)

    def declared_by(self, intent: str) -> tuple[int, ...]:
        """Indices of an intent's declared calls."""
        return tuple(n for n, (name, _, _) in enumerate(self.declared_calls) if name == intent)

    def attempts(self, declared: Sequence[int]) -> tuple[Event, ...]:
        """The CALL events that are attempts at any of these declared calls."""
        return tuple(event for call, event in self.calls.items() if self.declared_of(call) in declared)

    def delivered(self, declared: Sequence[int]) -> Iterator[Event]:
        """Unaltered answers that reached the runtime, to attempts at any of these declared calls."""
        for event in self.history.of(Kind.DELIVERED):
            if answers.unaltered(event) and self.declared_of(event.call) in declared:
                yield event

    @cached_property
    def askings(self) -> tuple[tuple[Event, Asked], ...]:
        """Every declared call that the model asked for, with the reply that did, in order."""
        replies = self.history.of(Kind.MODEL_REPLY)
        return tuple((event, asked) for event in replies for asked in event.asked or () if asked.declared is not None)

    def asked_by(self, call: Event) -> Asked | None:
        """The model's asking that a call goes back to (see ``asking_of``)."""
        found = self.asking_of(call)
        return found[1] if found is not None else None

    def asking_of(self, call: Event) -> tuple[Event, Asked] | None:
        """The model's asking that a call goes back to, with its reply: the last one before it, same tool, same arguments.

        A runtime that resumes repeats an asking of an earlier incarnation. What a framework adds to the arguments does not
        count; where it changed them, the last asking for the tool is meant.
        """
        before = [(event, asked) for event, asked in self.askings if event.n < call.n and asked.tool == call.tool]
        given = call.arguments or {}
        alike = [(event, asked) for event, asked in before if _holds(given, asked.arguments)]
        return next(reversed(alike or before), None)

    def contract_of(self, call: int | None) -> Contract | None:
        """The contract of a call's tool; None for readers and unknown tools."""
        event = self.calls.get(call) if call is not None else None
        return self.contracts.get(event.tool) if event is not None and event.tool is not None else None


def _holds(given: dict[str, Any], asked: dict[str, Any]) -> bool:
    return all(name in given and json_equal(given[name], value) for name, value in asked.items())

"""What the rules of exposure ask of a history; a question without an answer raises ``Unproven``."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.history import Event, History, Kind


class Unproven(Exception):
    """The order is broken; the message says what is lacking."""


class Proof:
    """One cell's history, as its rule asks it."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.variant = history.declaration.cell.variant
        self.calls = {event.call: event for event in history.of(Kind.CALL)}
        self.requests = {event.request: event for event in history.of(Kind.REQUEST)}

    def strikes(self) -> list[Event]:
        found = list(self.history.of(Kind.STRIKE))
        if not found:
            raise Unproven("the fault never struck")
        return found

    def call_of(self, event: Event) -> int:
        """The call an event belongs to."""
        request = self.requests.get(event.request) if event.request is not None else None
        call = event.call if event.call is not None else (request.call if request is not None else None)
        if call is None or call not in self.calls:
            raise Unproven(f"#{event.n} belongs to no call")
        return call

    def need(self, what: str, *kinds: Kind, after: int = 0, before: int | None = None, **fields: object) -> Event:
        """The first such event after one number and before another."""
        found = self.history.first(*kinds, after=after, **fields)
        if found is None:
            raise Unproven(f"{what} is not in the history" + (f" after #{after}" if after else ""))
        if before is not None and found.n >= before:
            raise Unproven(f"{what} (#{found.n}) did not come before #{before}")
        return found

    def never(
        self, what: str, *kinds: Kind, after: int = 0, before: int | None = None, unaltered: bool = False, **fields: object
    ) -> None:
        """No such event between the two numbers."""
        while (found := self.history.first(*kinds, after=after, **fields)) is not None:
            if before is not None and found.n >= before:
                return
            if not (unaltered and found.altered):
                raise Unproven(f"{what} (#{found.n})")
            after = found.n

    def commit_of(self, request: int | None, before: int) -> Event:
        """The commit of a request."""
        if request is None:
            raise Unproven("the strike names no upstream request")
        return self.need("the commit of the struck request", Kind.COMMIT, request=request, before=before)

    def commits_of_call(self, call: int, before: int) -> list[Event]:
        """Commits of all requests of a call before an event; at least one."""
        mine = {number for number, request in self.requests.items() if request.call == call}
        found = [e for e in self.history.of(Kind.COMMIT) if e.request in mine and e.n < before]
        if not found:
            raise Unproven(f"no commit of call {call} came before #{before}")
        return found

    def probe(self, commits: Sequence[Event], before: int) -> Event:
        """The oracle's look, after the commits and before an event, that shows all their receipts."""
        wanted = {receipt for commit in commits for receipt in commit.receipts or ()}
        for event in self.history.of(Kind.PROBE):
            if commits[-1].n < event.n < before and wanted and wanted <= set(event.receipts or ()):
                return event
        raise Unproven(f"the oracle did not show {names(commits)} (#{commits[-1].n}) before #{before}")

    def is_read(self, call: int) -> bool:
        event = self.calls.get(call)
        return event is None or event.tool not in self.history.declaration.contracts

    def next_mutating(self, after: int, not_call: int) -> Event | None:
        """The next mutating call that the tool server was given."""
        for event in self.history.of(Kind.CALL_FORWARDED):
            if event.n > after and event.call is not None and event.call != not_call and not self.is_read(event.call):
                return event
        return None

    def told_before(self, call: int, before: int) -> None:
        """Nothing was told to the runtime about the call, nor given up by it, before an event."""
        kinds = (Kind.DELIVERED, Kind.CONNECTION_LOST, Kind.GAVE_UP, Kind.CANCEL)
        self.never(f"the runtime was told, or gave up, before #{before}", *kinds, call=call, before=before)

    def not_replied(self, request: int | None) -> None:
        self.never("the struck answer reached the tool server", Kind.REPLY_DELIVERED, request=request, unaltered=True)

    def not_delivered(self, call: int, before: int | None = None) -> None:
        self.never("the struck answer reached the runtime", Kind.DELIVERED, call=call, before=before, unaltered=True)


def names(events: Sequence[Event]) -> str:
    """The receipts of some commits, for a sentence."""
    return ", ".join(receipt for event in events for receipt in event.receipts or ()) or "the effect"

"""One call on its way to an end: dispatch, reconcile, and dispatch again only with proof or a key that still protects."""

from __future__ import annotations

import time

import anyio
from effect_book import Book, Record, State, binding, canonical

from _baseline.lookup import Found, find
from _baseline.outcome import Settled
from _baseline.reply import Came, Reply
from _baseline.server import Server
from _baseline.task import Call, Request

ATTEMPTS = 3
"""Attempts at one call in one incarnation."""
MARGIN_S = 0.1
"""Beyond ``settles_s``, before a negative look-up is believed."""
RETRY_AFTER_S = 0.2
"""Wait after ``in_progress``, where the answer does not say how long; never longer than LONGEST_WAIT_S."""
LONGEST_WAIT_S = 1.0


class Settlement:
    """Ends as ``committed``, ``failed`` (proven) or ``unresolved`` (with a concrete question)."""

    def __init__(self, server: Server, call: Call, book: Book, tool_call_s: float, restarted: float) -> None:
        assert call.contract is not None
        self._server = server
        self._call = call
        self._contract = call.contract
        self._book = book
        self._tool_call_s = tool_call_s
        self._doubt_since = restarted
        """Monotonic: the end of the last ambiguous attempt; for those of an earlier incarnation, the start of this one."""
        self._repeatable = True
        """False once the tool has said that a repeat will not be answered."""
        self._why = "the runtime was killed before it got an answer"

    async def run(self) -> Settled:
        attempts = 0
        while True:
            record = self._book.read(self._call.effect_id)
            if record.state is State.COMMITTED:
                return Settled("committed", record.receipts)
            if record.state.nothing_happened:
                if attempts == ATTEMPTS:
                    return Settled("failed", (), f"proven not executed, {attempts} attempts: {self._why}")
            elif attempts == ATTEMPTS or not self._may_repeat(record):
                settled = await self._reconcile(record)
                if settled is not None:
                    return settled
                continue
            attempts += 1
            settled = await self._attempt(record)
            if settled is not None:
                return settled

    # dispatch

    @property
    def _request(self) -> Request:
        """The recorded call with the effect id as reference and as provider key, where the contract has them."""
        request = self._call.referenced
        key = self._contract.key
        return request.with_key(key, self._call.key) if key else request

    async def _attempt(self, record: Record) -> Settled | None:
        """One dispatch, recorded before and after. None: go on with what the record says now."""
        if not await self._server.connected():
            self._why = "no connection to the tool server"
            return None
        key = self._contract.key
        number = self._book.dispatch(record, key.retention_s if key else None)
        reply = await self._server.call(self._request)
        doubted = not record.state.nothing_happened
        if reply.ok and len(reply.receipts) >= self._call.effects:
            return self._commit(record, reply.receipts, number)
        self._why = reply.detail or "the answer has too few receipts"
        if reply.came is Came.UNCONNECTED or reply.tells(self._contract, "not_executed"):
            # Proof for this attempt only: an earlier one that was in doubt still is.
            state = State.UNKNOWN_AFTER_DISPATCH if doubted else State.FAILED_BEFORE_EFFECT
            self._book.end(record, number, "not executed", state)
            return None
        self._book.end(record, number, self._why, State.UNKNOWN_AFTER_DISPATCH)
        self._doubt_since = time.monotonic()
        return await self._special(record, reply, number, doubted)

    async def _special(self, record: Record, reply: Reply, number: int, doubted: bool) -> Settled | None:
        """The declared answers that say more than "something went wrong"."""
        contract = self._contract
        if reply.tells(contract, "repeat_refused"):
            ours = contract.key is not None or doubted
            if reply.receipts and ours:
                return self._commit(record, reply.receipts, number)
            return self._ask("the tool says that it exists already" + ("" if ours else ", before it was ever sent"))
        if reply.tells(contract, "mismatch"):
            taken = f" ({', '.join(reply.receipts)})" if reply.receipts else ""
            return self._ask(f"the tool says that its identity is taken by something else{taken}")
        if reply.tells(contract, "in_progress"):
            asked = reply.content.get("retry_after_s", RETRY_AFTER_S)
            await anyio.sleep(min(asked, LONGEST_WAIT_S) if isinstance(asked, int | float) else RETRY_AFTER_S)
        elif reply.tells(contract, "unavailable") or reply.tells(contract, "stalled"):
            self._repeatable = False
        return None

    # reconciliation

    def _may_repeat(self, record: Record) -> bool:
        """Whether sending the same call again cannot make a second effect."""
        key = self._contract.key
        if not self._repeatable:
            return False
        if key is not None and key.protects and key.scope in ("account", "endpoint"):
            deadline = record.retention_deadline
            # The repeat may be on its way for as long as we wait for it.
            return key.retention_s is None or (deadline is not None and time.time() + self._tool_call_s < deadline)
        return self._contract.natural_key is not None and self._contract.on_repeat in ("overwrite", "refuse")

    async def _reconcile(self, record: Record) -> Settled | None:
        """Proven committed, proven not committed (None, and the record says so), or cannot tell: a question."""
        lookup = self._contract.lookup
        if lookup is None or not self._contract.lookup_by_reference:
            return self._ask("it cannot be looked up, and no key protects a repeat")
        found = await self._find()
        if not found.every and not found.detail and lookup.settles_s is not None:
            wait = self._doubt_since + lookup.settles_s + MARGIN_S - time.monotonic()
            if wait > 0:
                await anyio.sleep(wait)
                found = await self._find()
            if found.none:
                self._book.know(record, State.FAILED_BEFORE_EFFECT)
                return None
        if found.every:
            return self._commit(record, found.known)
        if found.known:
            return self._ask(f"only {len(found.known)} of {self._call.effects} effects can be found", found.known)
        return self._ask(found.detail or "it is not found, and that answer never becomes final")

    async def _find(self) -> Found:
        """A look-up; once more where it was not answered."""
        found = await find(self._server, self._call)
        return await find(self._server, self._call) if found.detail else found

    # ends

    def _commit(self, record: Record, receipts: tuple[str, ...], number: int | None = None) -> Settled:
        if self._contract.natural_key is None and self._book.owner(receipts, record.effect_id):
            # Two effects of ours cannot share a receipt: the tool took this one for another.
            if number is not None:
                self._book.end(record, number, "another effect's receipt", State.UNKNOWN_AFTER_DISPATCH)
            return self._ask(f"the tool answered with the receipt of another effect ({', '.join(receipts)})")
        self._book.commit(record, receipts, number)
        return Settled("committed", receipts)

    def _ask(self, reason: str, receipts: tuple[str, ...] = ()) -> Settled:
        what = f"{self._call.tool} {canonical(binding(self._call))}"
        return Settled("unresolved", receipts, f"did this happen: {what}? Last attempt: {self._why}; {reason}")

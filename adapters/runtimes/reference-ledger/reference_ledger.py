"""reference-ledger: a record before every dispatch, reconciliation after every doubt. README.md states the policy."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from effect_book import Book, binding, canonical, intent_hash
from settlement import Settlement

from _baseline.attempts import resend_once
from _baseline.driver import run
from _baseline.outcome import Settled
from _baseline.server import Server
from _baseline.task import Call, Task


class ReferenceLedger:
    """The policy: one settlement per call, all over one book."""

    def __init__(self, task: Task, book: Book) -> None:
        self._task = task
        self._book = book
        self._restarted = time.monotonic()
        book.plan([call for intent in task.intents for call in intent.calls if call.contract is not None])

    async def settle(self, server: Server, call: Call) -> Settled:
        if call.contract is None:
            return await resend_once(server, call.request)
        call, conflict = self._authorised(call)
        settlement = Settlement(server, call, self._book, self._task.tool_call_s, self._restarted)
        settled = await settlement.run()
        return replace(settled, detail="; ".join(part for part in (conflict, settled.detail) if part))

    def _authorised(self, call: Call) -> tuple[Call, str]:
        """The call as it may be sent, and the conflict if the plan wants another effect.

        A changed free argument is taken over while nothing has happened; after that every attempt repeats the recorded call.
        """
        record = self._book.read(call.effect_id)
        recorded = replace(call, arguments=record.arguments)
        if intent_hash(call) != record.intent_hash:
            change = f"{canonical(binding(recorded))} to {canonical(binding(call))}"
            return recorded, f"conflict: the plan changes {change}, which is not authorised; the recorded call was settled"
        if record.state.nothing_happened:
            self._book.adopt(record, call.arguments)
            return call, ""
        return recorded, ""


if __name__ == "__main__":
    with ExitStack() as stack:
        run(lambda task: ReferenceLedger(task, stack.enter_context(closing(Book(task)))).settle)

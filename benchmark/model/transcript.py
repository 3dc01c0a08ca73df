"""Calls and results that a framework hands the model as text: read back into calls and results.

smolagents writes ``Calling tools:`` with Python's repr of the calls into the assistant's text, and ``Observation:`` or
``Error:`` with the result into the user's, several pieces in one message.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from benchmark.model.conversation import Asked, Item, Said, Told, arguments_of

_CALLS = "Calling tools:"
_PIECE = re.compile(r"^(?=Observation:|Call id: |Error:|New task:)", re.MULTILINE)
_CALL_ID = re.compile(r"^Call id: (\S+)\s*")


def unfolded(items: Iterable[Item]) -> Iterator[Item]:
    """The items, with calls and results that were told as text in their place."""
    textual = False
    for item in items:
        if isinstance(item, Said) and item.who == "assistant" and _CALLS in item.text:
            textual = True
            yield from _calls(item)
        elif textual and isinstance(item, Said) and item.who == "user":
            yield from _results(item)
        else:
            yield item


def _calls(item: Said) -> Iterator[Item]:
    before, *pieces = item.text.split(_CALLS)
    if before.strip():
        yield Said("assistant", before)
    for piece in pieces:
        yield from _listed(piece.strip())


def _listed(text: str) -> Iterator[Asked]:
    """The calls of a list, as Python writes it; what else stands behind the list is left out."""
    try:
        calls = ast.literal_eval(text[: text.rfind("]") + 1])
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return
    for call in calls if isinstance(calls, list) else ():
        function: Any = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield Asked(str(call.get("id", "")), str(function.get("name", "")), arguments_of(function.get("arguments")))


def _results(item: Said) -> Iterator[Item]:
    call_id = ""
    for piece in _PIECE.split(item.text):
        if piece.startswith("Call id: "):
            found = _CALL_ID.match(piece)
            call_id = found[1] if found else ""
        elif piece.startswith("Observation:"):
            yield Told("", piece.removeprefix("Observation:").strip())
        elif piece.startswith("Error:"):
            yield Told(call_id, piece.strip(), failed=True)
            call_id = ""
        elif piece.strip():
            yield Said("user", piece)

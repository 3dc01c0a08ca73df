"""What a framework tells the model about a call: success with its receipts, an error, or nothing that says so.

Frameworks hand results on as JSON, as MCP content, as Python's ``repr``, or as a sentence. Success is read before error, for
some echo ``"isError": false``; a mark that says "error" outright is read before both.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

LONGEST = 1 << 14
"""Characters; what comes later in a result is not read."""
_MOST_OBJECTS = 32
_DEEPEST = 12


class Word(StrEnum):
    """What was told about a call."""

    SUCCESS = "success"
    ERROR = "error"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Telling:
    """What a text says about a call, and the receipts that it names."""

    word: Word
    receipts: tuple[str, ...] = ()


_RECEIPT = re.compile(r"""\breceipts?\b["']?\s*(?:[:=]|is)\s*\[?\s*["']?([\w.:/@-]+)""", re.IGNORECASE)
_MARKED = re.compile(r"""\bis_?error["']?\s*[:=]\s*(true|false)""", re.IGNORECASE)
_CODE = re.compile(r"\b(upstream_unknown|not_executed|in_progress|mismatch|partial|invalid_arguments|rejected|exists)\b")
"""Codes of our own tools' errors, where a framework hands them on without their braces."""
_ERROR = re.compile(
    r"error|exception|fail(?:ed|ure|s)?\b|time[ds]?[ -]?out|timeout|closed|refused|reset\b|unavailable|not connected|"
    r"not found|disconnect|no longer|went wrong|interrupt|cancel|abort|broken|invalid|denied|rejected|unable|could not|"
    r"cannot|can't|\b50[0234]\b|unknown tool|does not exist|not executed|upstream|no result|not run|traceback|"
    r"retry|try again",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(ok|okay|success|successful(?:ly)?|succeeded|done|completed?|committed|executed|created)\b", re.IGNORECASE
)


def understood(text: str, *, failed: bool = False) -> Telling:
    """What a text says; ``failed``: the dialect itself marks it as an error."""
    return _understood(text[:LONGEST], failed)


@lru_cache(maxsize=256)  # every request of a conversation repeats what was told before
def _understood(text: str, failed: bool) -> Telling:
    objects = list(_objects(text))
    receipts = _receipts(objects, text)
    if failed or any(_marked(one) for one in objects) or _marks(text) == {"true"}:
        return Telling(Word.ERROR, receipts)
    if any(_coded(one) for one in objects):
        return Telling(Word.ERROR, receipts)
    if receipts or any(isinstance(one.get("found"), list) for one in objects):
        return Telling(Word.SUCCESS, receipts)
    if _CODE.search(text):
        return Telling(Word.ERROR)
    if _marks(text) == {"false"} or any(_fine(one) for one in objects):
        return Telling(Word.SUCCESS)
    if _ERROR.search(text):
        return Telling(Word.ERROR)
    return Telling(Word.SUCCESS if _DONE.search(text) else Word.UNCLEAR)


def _marks(text: str) -> set[str]:
    return {found.lower() for found in _MARKED.findall(text)}


def _marked(one: dict[Any, Any]) -> bool:
    return any(one.get(name) is True for name in ("isError", "is_error", "error")) or (
        isinstance(one.get("status"), str) and one["status"].lower() in ("error", "failed", "failure")
    )


def _coded(one: dict[Any, Any]) -> bool:
    """The structured content of an error of our tools, or a JSON-RPC error."""
    return isinstance(one.get("code"), str | int) and not isinstance(one.get("code"), bool) and "message" in one


def _fine(one: dict[Any, Any]) -> bool:
    return isinstance(one.get("status"), str) and one["status"].lower() in ("ok", "success", "completed", "succeeded")


def _receipts(objects: list[dict[Any, Any]], text: str) -> tuple[str, ...]:
    """Every receipt named, without repeats; those of a look-up's findings are nobody's."""
    found: list[str] = []
    for one in objects:
        several = one.get("receipts")
        named = [one.get("receipt"), *(several if isinstance(several, list | tuple) else ())]
        found += [receipt for receipt in named if isinstance(receipt, str)]
    if not objects:
        found += _RECEIPT.findall(text)
    return tuple(dict.fromkeys(found))


def _objects(text: str) -> Iterator[dict[Any, Any]]:
    """Every object in a text, those inside others and inside their strings too; no entries of a look-up's ``found``."""
    level: list[Any] = [text]
    seen = 0
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, str):
                inner += _spelled(value)
            elif isinstance(value, dict):
                seen += 1
                if seen > _MOST_OBJECTS:
                    return
                yield value
                inner += [
                    item for name, item in value.items() if name != "found" and isinstance(item, str | dict | list | tuple)
                ]
            else:
                inner += [item for item in value if isinstance(item, str | dict | list | tuple)]
        level = inner


def _spelled(text: str) -> list[Any]:
    """The objects and lists that a text spells out, as JSON or as Python does, wherever they stand in it."""
    if "{" not in text:
        return []
    whole = _value(text.strip())
    if isinstance(whole, dict | list | tuple):
        return [whole]
    if isinstance(whole, str) and whole != text:
        return [whole]
    found = []
    start = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            break
        end = _closing(text, start)
        value = _value(text[start:end]) if end else None
        if isinstance(value, dict):
            found.append(value)
            start = text.find("{", end)
        else:
            start = text.find("{", start + 1)
    return found


def _value(text: str) -> Any:
    """The value of a literal; None where the text is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _closing(text: str, start: int) -> int:
    """Where the object that opens at ``start`` ends (behind its brace); 0: nowhere."""
    depth = 0
    quote = ""
    place = start
    while place < len(text):
        character = text[place]
        if character == "\\":
            place += 1
        elif quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return 0

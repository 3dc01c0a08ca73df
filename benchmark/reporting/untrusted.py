"""Text that a runtime, a tool server or a provider wrote: made harmless before it reaches a terminal."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

HARMFUL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that can move a cursor, change a colour, reverse or hide text, or are no text at all."""


def plain(text: object, limit: int = 160) -> str:
    """At most ``limit`` characters of one line; everything that a terminal could obey is spelt out (``\\x1b``)."""
    told = str(text)
    shown = "".join(_spelt(character) for character in told[:limit])
    left = len(told) - limit
    return f"{shown}… ({left} more)" if left > 0 else shown


def value(data: Any, limit: int = 160) -> str:
    """JSON in one line, made harmless."""
    try:
        told = json.dumps(data, ensure_ascii=False, separators=(", ", ": "))
    except (TypeError, ValueError):
        told = repr(data)
    return plain(told, limit)


def fields(data: dict[str, Any], limit: int = 160) -> str:
    """``name=value name=value`` in one line, made harmless."""
    told = " ".join(f"{name}={json.dumps(item, ensure_ascii=False, default=str)}" for name, item in data.items())
    return plain(told, limit)


def _spelt(character: str) -> str:
    if unicodedata.category(character) not in HARMFUL:
        return character
    return character.encode("unicode_escape").decode("ascii")

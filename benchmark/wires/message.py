"""A JSON-RPC message as far as the wires rely on it. What is none stays the bytes that it is."""

from __future__ import annotations

import json
import re
from typing import Any

LARGEST = 1 << 20
"""Bytes; what is larger is no message (over HTTP as well: it is what aiohttp takes)."""
DEEPEST = 64
"""Objects and arrays inside one another: more than any tool takes, less than what breaks a parser or a serialiser."""
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


def parsed(raw: bytes) -> dict[str, Any] | None:
    """The message; None for bytes that are none: no JSON object, too deep, half a character, fields of the wrong kind."""
    try:
        message = json.loads(raw.decode())
        if _HALF_PAIR.search(raw):
            json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not _sound(message) or _too_deep(raw, message):
        return None
    return message


def _sound(message: dict[str, Any]) -> bool:
    """Whether the fields that the wires read are what JSON-RPC and MCP say; answers may carry any id."""
    if "method" not in message:
        return True
    number = message.get("id", 0)
    return (
        isinstance(message["method"], str)
        and isinstance(message.get("params") or {}, dict)
        and (isinstance(number, str) or (isinstance(number, int) and not isinstance(number, bool)))
    )


def _too_deep(raw: bytes, message: dict[str, Any]) -> bool:
    if raw.count(b"{") + raw.count(b"[") <= DEEPEST:
        return False
    level: list[Any] = [message]
    for _ in range(DEEPEST):
        inner = [value for value in level if isinstance(value, dict | list)]
        level = [item for value in inner for item in (value.values() if isinstance(value, dict) else value)]
    return any(isinstance(value, dict | list) for value in level)

"""What an answer on the tool wire says: success, receipts, code, and the contract's special answers.

An event's ``result`` is the JSON-RPC payload: ``{"result": {...}}`` or ``{"error": {...}}``, in the wire's own spelling.
"""

from __future__ import annotations

import json
from typing import Any

from benchmark.contracts import Answer
from benchmark.history import Event, asks_for_input
from benchmark.intents import json_equal


def payload(event: Event) -> dict[str, Any] | None:
    """The JSON-RPC result of an answer; None for an error or no answer."""
    found = (event.result or {}).get("result")
    return found if isinstance(found, dict) else None


def rpc_error(event: Event) -> dict[str, Any] | None:
    """The JSON-RPC error of an answer, if it is one."""
    found = (event.result or {}).get("error")
    return found if isinstance(found, dict) else None


def unaltered(event: Event) -> bool:
    return not event.altered


def succeeded(event: Event) -> bool:
    """A result that is not marked ``isError``, and ends the call."""
    found = payload(event)
    return found is not None and not found.get("isError", False) and not asks_for_input(event.result)


def structured(event: Event) -> dict[str, Any]:
    """The structured content, read from the JSON text where there is none; the data of an error; else empty."""
    found = payload(event)
    if found is None:
        data = (rpc_error(event) or {}).get("data")
        return data if isinstance(data, dict) else {}
    content = found.get("structuredContent")
    return content if isinstance(content, dict) else _from_text(found)


def _from_text(result: dict[str, Any]) -> dict[str, Any]:
    blocks = result.get("content")
    for block in blocks if isinstance(blocks, list) else []:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            try:
                parsed = json.loads(block["text"])
            except ValueError:
                continue
            if isinstance(parsed, dict):
                return parsed
    return {}


def receipts(event: Event) -> tuple[str, ...]:
    """Every receipt the answer carries, without repeats."""
    content = structured(event)
    several = content.get("receipts")
    found = [content.get("receipt"), *(several if isinstance(several, list) else [])]
    return tuple(dict.fromkeys(receipt for receipt in found if isinstance(receipt, str)))


def pointed(document: Any, pointer: str) -> tuple[bool, Any]:
    """(found, value) of a JSON pointer (RFC 6901)."""
    value = document
    for raw in pointer.split("/")[1:]:
        name = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False, None
    return True, value


def says(event: Event, answer: Answer | None) -> bool:
    """Whether an answer is the contract's special one: the pointer's value, in the result or in the JSON-RPC error."""
    if answer is None:
        return False
    for document in (payload(event), rpc_error(event)):
        found, value = pointed(document, answer[0])
        if document is not None and found and json_equal(value, answer[1]):
            return True
    return False

"""What the tool wire gives the runtime instead of an answer, as JSON-RPC messages."""

from __future__ import annotations

import secrets
from typing import Any

from benchmark.boundaries import Manifestation, Variant
from benchmark.wires.scene import Scene, bad_result, error_result, not_executed_result
from benchmark.wires.traffic import LiveCall

INTERNAL_ERROR = -32603
METHOD_NOT_FOUND = -32601
UNSUPPORTED_PROTOCOL_VERSION = -32022


def substitute(scene: Scene, call: LiveCall, manifestation: Manifestation) -> dict[str, Any] | None:
    """The JSON-RPC message of a manifestation; None for those that are no message (reset, silence, crash)."""
    match manifestation:
        case Manifestation.ERROR:
            return {"error": {"code": INTERNAL_ERROR, "message": "internal error"}}
        case Manifestation.IS_ERROR:
            return {"result": _complete(scene, error_result())}
        case Manifestation.BAD_RESULT:
            return {"result": _complete(scene, bad_result())}
        case Manifestation.REFUSED:
            return {"result": _complete(scene, not_executed_result(scene.contracts.get(call.tool)))}
        case Manifestation.ASKED:
            return {"result": _request_for_input(scene, call)}
        case Manifestation.NONE | Manifestation.RESET | Manifestation.SILENCE | Manifestation.CRASH:
            return None


def _request_for_input(scene: Scene, call: LiveCall) -> dict[str, Any]:
    """``InputRequiredResult`` (SEP-2322), with the variant's requestState, under which the tool server's answer is kept."""
    schema = {"type": "object", "properties": {}}
    params = {"mode": "form", "message": f"Please confirm {call.tool}.", "requestedSchema": schema}
    asked = {"confirm": {"method": "elicitation/create", "params": params}}
    found: dict[str, Any] = {"resultType": "input_required", "inputRequests": asked}
    if scene.cell.variant is Variant.WITH_STATE:
        call.kept_as = secrets.token_hex(16)
        found["requestState"] = call.kept_as
    return found


def _complete(scene: Scene, result: dict[str, Any]) -> dict[str, Any]:
    return result | {"resultType": "complete"} if scene.modern else result


def foreign_revision(scene: Scene, message: dict[str, Any]) -> dict[str, Any] | None:
    """The refusal of a handshake of the revision that this cell's server does not offer; None for anything else."""
    method = message.get("method")
    if method == "server/discover" and not scene.modern:
        return {"error": {"code": METHOD_NOT_FOUND, "message": "Method not found"}}
    if method == "initialize" and scene.modern:
        data = {"supported": [scene.cell.protocol], "requested": (message.get("params") or {}).get("protocolVersion")}
        return {"error": {"code": UNSUPPORTED_PROTOCOL_VERSION, "message": "Unsupported protocol version", "data": data}}
    return None

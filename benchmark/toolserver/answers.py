"""What upstream answers mean, and the structured content that a tool answers with. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmark.contracts import Contract
from benchmark.toolserver.steps import Lost, Reply

Json = dict[str, Any]

MESSAGES = {
    "upstream_unknown": "The upstream answer was lost: the effect may have happened.",
    "not_executed": "Nothing was executed.",
    "exists": "There is such an effect already.",
    "mismatch": "The key or name is in use with other arguments.",
    "in_progress": "A call with this key is still running.",
    "partial": "Some effects were made, then one was refused.",
}


@dataclass(frozen=True)
class Result:
    """A tool result: structured content, whether it is an error, and what stands in its ``_meta``."""

    content: Json
    is_error: bool = False
    meta: Json | None = None

    @property
    def code(self) -> str | None:
        """The code of an error."""
        return str(self.content.get("code")) if self.is_error else None


@dataclass(frozen=True)
class Done:
    """The effect stands, or those of one request."""

    receipts: tuple[str, ...]
    replayed: bool


@dataclass(frozen=True)
class Refused:
    """The provider answered, and made no effect."""

    code: str
    receipt: str | None


def meaning(reply: Reply, contract: Contract) -> Done | Refused:
    """What an answer to a mutation proves; raises Lost where it proves nothing."""
    receipt, code = reply.body.get("receipt"), reply.body.get("code")
    together = contract.effects is not None and contract.effects.together
    receipts = reply.body.get("receipts") if together else [receipt] if isinstance(receipt, str) else None
    if reply.status in (200, 201) and receipts:
        return Done(tuple(receipts), reply.body.get("replayed") is True)
    if code == "not_executed" and contract.answers.not_executed is not None:
        return Refused("not_executed", None)
    if 400 <= reply.status < 500:
        return Refused(code if isinstance(code, str) else "rejected", receipt if isinstance(receipt, str) else None)
    raise Lost(f"status {reply.status}")


def success(done: list[Done], several: bool) -> Result:
    """The receipt of the effect, or the receipts of several (of one: both)."""
    receipts = [receipt for each in done for receipt in each.receipts]
    content: Json = {"receipts": receipts} if several else {}
    if len(receipts) == 1:
        content["receipt"] = receipts[0]
    if all(each.replayed for each in done):
        content["replayed"] = True
    return Result(content)


def refusal(refused: Refused, done: list[Done]) -> Result:
    """An error; ``not_executed`` only where nothing of the call was executed before."""
    if refused.code == "not_executed" and done:
        return error("partial", done, cause="not_executed")
    extra = {} if refused.receipt is None else {"receipt": refused.receipt}
    return error(refused.code, done, **extra)


def error(code: str, done: list[Done] | None = None, message: str | None = None, **extra: Any) -> Result:
    """An error with its code, a sentence for people and models, and the receipts that there are nevertheless."""
    content: Json = {"code": code, "message": message or MESSAGES.get(code, "The request was refused."), **extra}
    if done:
        content["receipts"] = [receipt for each in done for receipt in each.receipts]
    return Result(content, is_error=True)


def found(reply: Reply, listed: dict[str, str]) -> Result:
    """A look-up's answer, its arguments as the tools name them; raises Lost where it is none."""
    entries = reply.body.get("found")
    if reply.status != 200 or not isinstance(entries, list):
        if 400 <= reply.status < 500:
            return error("rejected", message=str(reply.body.get("message", "The look-up was refused.")))
        raise Lost(f"status {reply.status}")
    return Result({"found": [_entry(entry, listed) for entry in entries]})


def _entry(entry: Json, listed: dict[str, str]) -> Json:
    arguments = {listed.get(name, name): [value] if name in listed else value for name, value in entry["arguments"].items()}
    return {"receipt": entry["receipt"], "reference": entry["reference"], "arguments": arguments}


RECEIPT: Json = {"type": "string", "description": "The provider's id of the effect."}


def output_schema(contract: Contract | None) -> Json:
    """The JSON Schema of a successful result."""
    if contract is None:
        entry = {
            "type": "object",
            "properties": {
                "receipt": RECEIPT,
                "reference": {"type": ["string", "null"]},
                "arguments": {"type": "object"},
            },
            "required": ["receipt", "reference", "arguments"],
        }
        return {"type": "object", "properties": {"found": {"type": "array", "items": entry}}, "required": ["found"]}
    properties = {
        "receipt": RECEIPT,
        "receipts": {"type": "array", "items": RECEIPT},
        "replayed": {"type": "boolean"},
    }
    return {"type": "object", "properties": properties, "required": ["receipt" if contract.effects is None else "receipts"]}

"""keyed-blind-retry in plain Python, written from the runtime contract, version 1: send once more, with the same key."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from plain_mcp import Failure, Session, connect

Json = dict[str, Any]


class Runner:
    """Executes the intents of one task over one connection at a time."""

    def __init__(self, task: Json) -> None:
        self.task = task
        self.session: Session | None = None

    def run(self) -> list[Json]:
        claims = [self.intent(intent) for intent in self.task["intents"]]
        self.drop()
        return claims

    def intent(self, intent: Json) -> Json:
        calls: list[Json] = []
        for index, call in enumerate(intent["calls"]):
            params = self.params(intent["id"], index, call)
            try:
                receipts = self.attempt(params)
            except Failure:
                try:
                    receipts = self.attempt(params)
                except Failure as failure:
                    calls.append({"index": index, "status": "error", "receipt": None, "detail": str(failure)})
                    break
            calls.append({"index": index, "status": "committed", **named(receipts)})
        every = [receipt for call in calls for receipt in [call["receipt"], *call.get("receipts", [])] if receipt]
        claim = {"id": intent["id"], "status": calls[-1]["status"], **named(every)}
        claim["detail"] = calls[-1].get("detail", "")
        return claim | ({"calls": calls} if len(intent["calls"]) > 1 else {})

    def params(self, intent: str, index: int, call: Json) -> Json:
        """The parameters of the call, with its key where the contract says."""
        params: Json = {"name": call["tool"], "arguments": dict(call["arguments"])}
        key = (self.task.get("contracts", {}).get(call["tool"]) or {}).get("key")
        if key is None:
            return params
        identity = json.dumps([self.task["workflow_id"], intent, index])
        # Room for the /i of several effects.
        value = hashlib.sha256(identity.encode()).hexdigest()[: key.get("max_length", 255) - 4]
        place = {"argument": params["arguments"], "meta": params.setdefault("_meta", {}), "param": params}
        place[key["carrier"]][key["name"]] = value
        return params

    def attempt(self, params: Json) -> list[str]:
        """The receipts; raises Failure for everything that is no success."""
        try:
            if self.session is None:
                self.session = connect(self.task["server"])
            result = self.session.request("tools/call", params, self.task["timeouts"]["tool_call_s"])
        except Failure as failure:
            if failure.gone:
                self.drop()
            raise
        if result.get("isError"):
            raise Failure(f"isError: {json.dumps(result.get('content'))[:300]}")
        return receipts_of(result)

    def drop(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            session.close()


def receipts_of(result: Json) -> list[str]:
    content = result.get("structuredContent")
    if content is None:
        try:
            content = json.loads(result["content"][0]["text"])
        except (LookupError, TypeError, ValueError):
            content = {}
    found = [content.get("receipt"), *(content.get("receipts") or [])]
    return list(dict.fromkeys(receipt for receipt in found if isinstance(receipt, str)))


def named(receipts: list[str]) -> Json:
    return {"receipt": None, "receipts": receipts} if len(receipts) > 1 else {"receipt": receipts[0] if receipts else None}


def main() -> None:
    task = json.loads(Path(os.environ["BENCH_TASK"]).read_text(encoding="utf-8"))
    if task["contract"] != 1:
        raise SystemExit(f"contract {task['contract']}, not 1")
    body = {"contract": 1, "status_from": "driver", "intents": Runner(task).run()}
    unfinished = Path(task["outcome_path"] + ".unfinished")
    unfinished.write_text(json.dumps(body), encoding="utf-8")
    unfinished.replace(task["outcome_path"])


if __name__ == "__main__":
    main()

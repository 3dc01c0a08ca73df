"""The Celery application and its task, as worker and caller import it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_driver"))

from celery import Celery
from step import call_tool

REDIS = f"redis://127.0.0.1:{os.environ['BENCH_REDIS_PORT']}"

app = Celery("jobs", broker=f"{REDIS}/0", backend=f"{REDIS}/1")
app.conf.update(worker_redirect_stdouts=False, broker_connection_retry_on_startup=True)


@app.task(name="call")
def call(server: dict[str, Any], timeout_s: float, tool: str, arguments: dict[str, Any]) -> list[str]:
    """One call over a connection of its own; the receipts."""
    return asyncio.run(call_tool(server, timeout_s, tool, arguments))

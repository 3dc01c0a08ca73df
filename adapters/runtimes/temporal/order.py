"""The workflow and its activity."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from step import call_tool, in_order


@activity.defn
async def call(server: dict[str, Any], timeout_s: float, tool: str, arguments: dict[str, Any]) -> list[str]:
    """One call over a connection of its own; the receipts."""
    return await call_tool(server, timeout_s, tool, arguments)


@workflow.defn
class Order:
    """An activity for each call, one after the other; an activity that fails for good ends its intent."""

    @workflow.run
    async def run(
        self, server: dict[str, Any], timeout_s: float, intents: list[dict[str, Any]], attempts: int
    ) -> list[dict[str, Any]]:
        """``attempts`` 0: Temporal's default retry policy."""
        policy = RetryPolicy(maximum_attempts=attempts) if attempts else None

        async def step(tool: str, arguments: dict[str, Any]) -> list[str]:
            return await workflow.execute_activity(
                call,
                args=[server, timeout_s, tool, arguments],
                start_to_close_timeout=timedelta(seconds=5),
                retry_policy=policy,
            )

        return await in_order(intents, step)

"""DBOS: one step that calls an MCP tool, killed between effect and record, or timed out. How many effects?

pip install dbos==3.4.0 mcp==2.3.0
python dbos_step.py restart      # SIGKILL while the answer is out; a second process recovers the workflow
python dbos_step.py retries      # no crash: retries_allowed=True, max_attempts=3, and a server that never answers
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from dbos import DBOS, SetWorkflowID

SERVER = str(Path(__file__).with_name("ledger_server.py"))
KIND = sys.argv[1] if len(sys.argv) > 1 else "restart"
FOLDER = Path(os.environ.get("FOLDER", "."))
RETRIES = {"retries_allowed": True, "max_attempts": 3, "interval_seconds": 0.1} if KIND == "retries" else {}


@DBOS.step(**RETRIES)
async def pay() -> str:
    """The one effect."""
    fault = "hang" if KIND == "retries" else "hang-once"
    server = StdioServerParameters(command=sys.executable, args=[SERVER, str(FOLDER / "ledger"), fault])
    async with Client(stdio_client(server)) as client:
        timeout = 1.0 if KIND == "retries" else None
        return str(await client.call_tool("charge", {"amount": 100}, read_timeout_seconds=timeout))


@DBOS.workflow()
async def order() -> str:
    """One order."""
    return await pay()


async def work() -> None:
    """Start the workflow, or recover it."""
    database = f"sqlite:///{FOLDER / 'dbos.sqlite'}"
    DBOS(config={"name": "shop", "system_database_url": database, "application_version": "1", "run_admin_server": False})
    DBOS.launch()  # recovers what was pending
    with SetWorkflowID("order-1"):
        handle = await DBOS.start_workflow_async(order)
    try:
        print("the workflow ended:", (await handle.get_result())[:60])
    except Exception as error:  # noqa: BLE001 - whatever the framework lets through is the finding
        print("the workflow raised:", type(error).__name__)
    DBOS.destroy()


def main() -> None:
    """Start, kill, recover, count."""
    if "FOLDER" in os.environ:
        asyncio.run(work())
        return
    with tempfile.TemporaryDirectory() as name:
        environment = {**os.environ, "FOLDER": name}
        command = [sys.executable, __file__, KIND]
        ledger = Path(name) / "ledger"
        if KIND == "restart":
            first = subprocess.Popen(command, env=environment, start_new_session=True)
            while not ledger.exists():
                time.sleep(0.05)
            os.killpg(first.pid, signal.SIGKILL)
            first.wait()
        subprocess.run(command, env=environment, check=True)
        print(f"authorised: 1, happened: {len(ledger.read_text().splitlines())}")


if __name__ == "__main__":
    main()

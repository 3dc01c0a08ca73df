"""The official Python MCP client over stdio: an obvious retry around one call. How many effects?

pip install mcp==2.3.0
python mcp_client_retry.py timeout    # the answer takes longer than the client's timeout; the client calls again
python mcp_client_retry.py kill       # the server dies after the effect; a new one is started; the client calls again
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

SERVER = str(Path(__file__).with_name("ledger_server.py"))


async def call(ledger: Path, fault: str, attempts: int) -> list[str]:
    """What each attempt brought, in one connection."""
    server = StdioServerParameters(command=sys.executable, args=[SERVER, str(ledger), fault])
    seen = []
    async with Client(stdio_client(server)) as client:
        for _ in range(attempts):
            try:
                await client.call_tool("charge", {"amount": 100}, read_timeout_seconds=1.0)
                seen.append("answered")
            except MCPError as error:
                seen.append(f"error {error.error.code}")
    return seen


async def run(ledger: Path, kind: str) -> list[str]:
    """What the attempts brought."""
    if kind == "timeout":
        return await call(ledger, "hang-once", attempts=2)
    return await call(ledger, "die-once", attempts=1) + await call(ledger, "die-once", attempts=1)


def main() -> None:
    """Print what happened, by the ledger and by the client."""
    kind = sys.argv[1] if len(sys.argv) > 1 else "timeout"
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        seen = asyncio.run(run(ledger, kind))
        print(f"authorised: 1, happened: {len(ledger.read_text().splitlines())}; the client saw: {', '.join(seen)}")


if __name__ == "__main__":
    main()

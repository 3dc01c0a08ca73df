"""LangGraph: one node, one tool call, the default RetryPolicy. The tool server dies after the effect. How many effects?

    pip install langgraph==1.2.24 langchain-mcp-adapters==0.3.2
    python langgraph_node_retry.py [die|die-once]

No model and nothing synthetic: the exception that is retried is the one that the MCP client raises.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TypedDict

from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy

SERVER = str(Path(__file__).with_name("ledger_server.py"))


class State(TypedDict, total=False):
    """What the graph carries."""

    said: str


async def run(ledger: Path, fault: str) -> str:
    """The graph's end, in words."""
    connection = {"transport": "stdio", "command": sys.executable, "args": [SERVER, str(ledger), fault]}
    [charge] = await MultiServerMCPClient({"ledger": connection}).get_tools()

    async def pay(_state: State) -> State:
        return {"said": str(await charge.ainvoke({"amount": 100}))}

    graph = StateGraph(State)
    graph.add_node("pay", pay, retry_policy=RetryPolicy())
    graph.add_edge(START, "pay")
    graph.add_edge("pay", END)
    try:
        return f"succeeded: {(await graph.compile().ainvoke({}))['said']}"
    except Exception as error:  # noqa: BLE001 - whatever the framework lets through is the finding
        return f"raised {type(error).__name__}: {error}"


def main() -> None:
    """Print what happened, by the ledger and by the framework."""
    fault = sys.argv[1] if len(sys.argv) > 1 else "die"
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        end = asyncio.run(run(ledger, fault))
        print(f"authorised: 1, happened: {len(ledger.read_text().splitlines())}; the graph {end}")


if __name__ == "__main__":
    main()

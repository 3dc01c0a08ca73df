"""LangGraph: killed between the effect and the checkpoint, then resumed as documented. How many effects?

    pip install langgraph==1.2.24 langgraph-checkpoint-sqlite==3.1.2 langchain-mcp-adapters==0.3.2
    python langgraph_restart.py [sync|async|exit] [hang-once|none]

The parent starts a process that runs a graph of one node with SQLite checkpoints, and sends it SIGKILL when the effect is
in the ledger: with ``hang-once`` while the tool's answer is out; with ``none`` in the node after it. A second one resumes.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TypedDict

from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

SERVER = str(Path(__file__).with_name("ledger_server.py"))


class State(TypedDict, total=False):
    """What the graph carries."""

    said: str
    done: bool


async def work(folder: Path, durability: Any, fault: str) -> None:
    """Run the graph, or go on with it where there is a checkpoint."""
    connection = {"transport": "stdio", "command": sys.executable, "args": [SERVER, str(folder / "ledger"), fault]}
    [charge] = await MultiServerMCPClient({"ledger": connection}).get_tools()
    second = (folder / "second").exists()

    async def pay(_state: State) -> State:
        return {"said": str(await charge.ainvoke({"amount": 100}))}

    async def tell(_state: State) -> State:
        if not second and fault == "none":
            await asyncio.sleep(60)  # the kill comes here: after the node that paid
        return {"done": True}

    graph = StateGraph(State)
    graph.add_node("pay", pay)
    graph.add_node("tell", tell)
    graph.add_edge(START, "pay")
    graph.add_edge("pay", "tell")
    graph.add_edge("tell", END)
    config: Any = {"configurable": {"thread_id": "1"}}
    async with AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver:
        compiled = graph.compile(checkpointer=saver)
        stored = second and (await compiled.aget_state(config)).created_at is not None
        await compiled.ainvoke(None if stored else {}, config, durability=durability)


def main() -> None:
    """Start, kill, resume, count."""
    if len(sys.argv) > 3:
        asyncio.run(work(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
        return
    durability, fault = (sys.argv[1:] + ["sync", "hang-once"][len(sys.argv) - 1 :])[:2]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, __file__, name, durability, fault]
        first = subprocess.Popen(command, start_new_session=True)
        while not (folder / "ledger").exists():
            time.sleep(0.05)
        time.sleep(1.0)  # with ``none``: the answer is on its way, and the node after it begins
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        (folder / "second").touch()
        subprocess.run(command, check=True)
        print(f"durability={durability}: authorised: 1, happened: {len((folder / 'ledger').read_text().splitlines())}")


if __name__ == "__main__":
    main()

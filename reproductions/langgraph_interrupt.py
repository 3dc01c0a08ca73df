"""LangGraph: stopped by interrupt() for a person's word, then resumed. How many effects?

pip install langgraph==1.2.24 langgraph-checkpoint-sqlite==3.1.2
python langgraph_interrupt.py apart       # the effect in the node before the one that interrupts
python langgraph_interrupt.py same-node   # the effect in the node that interrupts, before it does
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict, total=False):
    """What the graph carries."""

    charged: bool
    word: str


async def work(folder: Path, way: str) -> None:
    """Run until the interrupt; then answer it in another graph over the same checkpoints."""

    def charge() -> None:
        with (folder / "ledger").open("a") as file:
            file.write("charged\n")

    def pay(_state: State) -> State:
        charge()
        return {"charged": True}

    def ask(_state: State) -> State:
        if way == "same-node":
            charge()
        return {"word": interrupt("Go on?")}

    graph = StateGraph(State)
    if way == "apart":
        graph.add_node("pay", pay)
        graph.add_edge(START, "pay")
        graph.add_edge("pay", "ask")
    else:
        graph.add_edge(START, "ask")
    graph.add_node("ask", ask)
    graph.add_edge("ask", END)
    config: Any = {"configurable": {"thread_id": "1"}}
    given: tuple[Any, ...] = ({}, Command(resume="yes"))
    for each in given:
        async with AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver:
            await graph.compile(checkpointer=saver).ainvoke(each, config, durability="sync")


def main() -> None:
    """Interrupt, resume, count."""
    way = sys.argv[1] if len(sys.argv) > 1 else "apart"
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(work(Path(name), way))
        print(f"{way}: authorised: 1, happened: {len((Path(name) / 'ledger').read_text().splitlines())}")


if __name__ == "__main__":
    main()

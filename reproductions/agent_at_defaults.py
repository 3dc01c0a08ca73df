"""An agent with one MCP tool, at the framework's defaults. One charge is asked for. How many effects?

    python agent_at_defaults.py FRAMEWORK error     # the tool fails once, after the effect; the model, told so, asks again
    python agent_at_defaults.py FRAMEWORK killed    # SIGKILL while the answer is out; started again; the model asks once

FRAMEWORK, and what to install for it (Python 3.11):
    langgraph         langchain==1.5.2 langgraph==1.2.24 langgraph-checkpoint-sqlite==3.1.2 langchain-mcp-adapters==0.3.2
                      langchain-openai==1.7.4
    openai-agents     openai-agents==0.24.0
    pydantic-ai       'pydantic-ai-slim[mcp,openai]==2.68.0'
    google-adk        'google-adk[mcp,db,openai]==2.13.0' aiosqlite
    strands           'strands-agents[openai]==1.62.0'
    agent-framework   agent-framework-core==1.23.0 agent-framework-openai==1.17.0 mcp tenacity

The model is a script in this file, behind an endpoint of OpenAI's chat completions on 127.0.0.1.
"""

import asyncio
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

SERVER = str(Path(__file__).with_name("ledger_server.py"))
SAY = "Charge the card once."


class Model(http.server.BaseHTTPRequestHandler):
    """Asks for one charge; again if it is told of anything but success, where it is one that asks again."""

    asks_again = False
    told: list[str] = []  # noqa: RUF012 - one model in a process

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = [message for message in request["messages"] if message["role"] == "assistant" and message.get("tool_calls")]
        results = [json.dumps(message["content"]) for message in request["messages"] if message["role"] == "tool"]
        Model.told = results or Model.told
        charged = any("charged" in result for result in results)
        once_more = Model.asks_again and len(said) < 2 and not charged
        message: dict[str, Any] = {"role": "assistant", "content": "Done."}
        if not said or (results and once_more):
            name = next(t["function"]["name"] for t in request["tools"] if "Charge" in t["function"]["description"])
            call = {"name": name, "arguments": '{"amount": 100}'}
            message = {"role": "assistant", "content": None}
            message["tool_calls"] = [{"index": 0, "id": f"call_{len(said)}", "type": "function", "function": call}]
        self.answer(message, stream=bool(request.get("stream")))

    def answer(self, message: dict[str, Any], *, stream: bool) -> None:
        """As one object, or as a stream of one chunk and the end."""
        end = "tool_calls" if message.get("tool_calls") else "stop"
        head = {"id": "c", "created": 0, "model": "script", "object": "chat.completion" + (".chunk" if stream else "")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if stream:
            parts = [{"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": end}]
            lines = [json.dumps({**head, "choices": [{"index": 0, **part}]}) for part in parts] + ["[DONE]"]
            body = "".join(f"data: {line}\n\n" for line in lines).encode()
        else:
            choice = {"index": 0, "message": message, "finish_reason": end}
            body = json.dumps({**head, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


async def langgraph(url: str, args: list[str], folder: Path) -> None:
    """create_agent on SQLite checkpoints; a thread that was begun is resumed."""
    from langchain.agents import create_agent
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_openai import ChatOpenAI
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    tools = await MultiServerMCPClient({"bank": {"transport": "stdio", "command": sys.executable, "args": args}}).get_tools()
    llm = ChatOpenAI(model="script", base_url=url, api_key="none")
    config: Any = {"configurable": {"thread_id": "1"}}
    async with AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver:
        agent = create_agent(llm, tools, checkpointer=saver)
        begun = (await agent.aget_state(config)).next
        await agent.ainvoke(None if begun else {"messages": [("user", SAY)]}, config)


async def openai_agents(url: str, args: list[str], folder: Path) -> None:
    """An agent with a SQLiteSession."""
    from agents import Agent, OpenAIChatCompletionsModel, Runner, SQLiteSession, set_tracing_disabled
    from agents.mcp import MCPServerStdio
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel(model="script", openai_client=AsyncOpenAI(base_url=url, api_key="none"))
    async with MCPServerStdio(params={"command": sys.executable, "args": args}) as tools:
        agent = Agent(name="payer", model=model, mcp_servers=[tools])
        await Runner.run(agent, SAY, session=SQLiteSession("1", folder / "sessions.sqlite"))


async def pydantic_ai(url: str, args: list[str], _: Path) -> None:
    """An agent; nothing is kept between two runs unless the user keeps it."""
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("script", provider=OpenAIProvider(base_url=url, api_key="none"))
    async with Agent(model, toolsets=[MCPToolset(StdioTransport(sys.executable, args))]) as agent:
        await agent.run(SAY)


async def google_adk(url: str, args: list[str], folder: Path) -> None:
    """A resumable app on a SQLite session; an invocation that did not end is resumed."""
    from google.adk.agents import LlmAgent
    from google.adk.apps import App, ResumabilityConfig
    from google.adk.integrations.openai import OpenAILlm
    from google.adk.runners import Runner
    from google.adk.sessions.sqlite_session_service import SqliteSessionService
    from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
    from google.genai import types
    from mcp import StdioServerParameters
    from openai import AsyncOpenAI

    bank = StdioConnectionParams(server_params=StdioServerParameters(command=sys.executable, args=args))
    model = OpenAILlm(model="script", client=AsyncOpenAI(base_url=url, api_key="none"))
    agent = LlmAgent(name="payer", model=model, tools=[McpToolset(connection_params=bank)])
    app = App(name="shop", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True))
    sessions = SqliteSessionService(str(folder / "sessions.sqlite"))
    whose: Any = {"user_id": "user", "session_id": "1"}
    session = await sessions.get_session(app_name="shop", **whose)
    message = types.Content(role="user", parts=[types.Part(text=SAY)])
    how: Any = {"invocation_id": session.events[-1].invocation_id} if session else {"new_message": message}
    if session is None:
        await sessions.create_session(app_name="shop", **whose)
    async with Runner(app=app, session_service=sessions) as runner:
        async for _ in runner.run_async(**how, **whose):
            pass


async def strands(url: str, args: list[str], folder: Path) -> None:
    """An agent with a FileSessionManager."""
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client
    from strands.models.openai import OpenAIModel
    from strands.session.file_session_manager import FileSessionManager
    from strands.tools.mcp import MCPClient

    from strands import Agent

    model = OpenAIModel(client_args={"base_url": url, "api_key": "none"}, model_id="script")
    with MCPClient(lambda: stdio_client(StdioServerParameters(command=sys.executable, args=args))) as client:
        session = FileSessionManager(session_id="1", storage_dir=str(folder))
        tools: Any = client.list_tools_sync()
        agent = Agent(model=model, tools=list(tools), session_manager=session, agent_id="payer", callback_handler=None)
        await agent.invoke_async(SAY)


async def agent_framework(url: str, args: list[str], folder: Path) -> None:
    """An agent with a FileHistoryProvider."""
    from agent_framework import Agent, FileHistoryProvider, MCPStdioTool
    from agent_framework.openai import OpenAIChatCompletionClient

    client = OpenAIChatCompletionClient(model="script", base_url=url, api_key="none")
    history = FileHistoryProvider(folder / "history")
    bank = MCPStdioTool(name="bank", command=sys.executable, args=args, load_prompts=False)
    async with bank, Agent(client=client, tools=bank, context_providers=[history]) as agent:
        await agent.run(SAY, session=agent.create_session(session_id="1"))


def main() -> None:
    """Start, strike, start again where it was killed; count."""
    framework, kind = sys.argv[1:3]
    if "FOLDER" in os.environ:
        folder = Path(os.environ["FOLDER"])
        args = [SERVER, str(folder / "ledger"), "error-once" if kind == "error" else "hang-once"]
        asyncio.run(globals()[framework.replace("-", "_")](os.environ["URL"], args, folder))
        return
    Model.asks_again = kind == "error"
    endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        ledger = Path(name) / "ledger"
        environment = {**os.environ, "FOLDER": name, "URL": f"http://127.0.0.1:{endpoint.server_port}/v1"}
        environment |= {"NO_GCE_CHECK": "true"}  # Google's library asks the network for its cloud else
        command = [sys.executable, __file__, framework, kind]
        if kind == "killed":
            first = subprocess.Popen(command, env=environment, start_new_session=True)
            while not ledger.exists():
                time.sleep(0.05)
            os.killpg(first.pid, signal.SIGKILL)
            first.wait()
        again = subprocess.run(command, env=environment, check=False, stderr=subprocess.PIPE, text=True)
        raised = "" if again.returncode == 0 else f"; it raised {again.stderr.strip().splitlines()[-1][:120]}"
        happened = len(ledger.read_text().splitlines())
        told = f"; the model was told {Model.told[0][:160]}" if Model.told else ""
        print(f"{framework}, {kind}: authorised: 1, happened: {happened}{told}{raised}")


if __name__ == "__main__":
    main()

"""LangChain: an agent with ToolRetryMiddleware(). The model asks once; the server dies after the effect. How many effects?

    pip install langchain==1.5.2 langchain-mcp-adapters==0.3.2
    python langchain_tool_retry.py [die|die-once]

The model is a script in this file: it asks for one call, and ends when it is told anything.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_mcp_adapters.client import MultiServerMCPClient

SERVER = str(Path(__file__).with_name("ledger_server.py"))


class Script(BaseChatModel):
    """Asks for one charge, never for a second."""

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **_: Any) -> "Script":
        """Tools are known by heart."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        told = any(isinstance(message, ToolMessage) for message in messages)
        call = {"name": "charge", "args": {"amount": 100}, "id": "call_1"}
        said = AIMessage("Done.") if told else AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])


async def run(ledger: Path, fault: str) -> str:
    """What the model was told at the end."""
    connection = {"transport": "stdio", "command": sys.executable, "args": [SERVER, str(ledger), fault]}
    tools = await MultiServerMCPClient({"ledger": connection}).get_tools()
    agent = create_agent(Script(), tools, middleware=[ToolRetryMiddleware()])
    end = await agent.ainvoke({"messages": [{"role": "user", "content": "Charge the card once."}]})
    return next(str(message.content) for message in end["messages"] if isinstance(message, ToolMessage))


def main() -> None:
    """Print what happened, by the ledger and by what the model was told."""
    fault = sys.argv[1] if len(sys.argv) > 1 else "die"
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        told = asyncio.run(run(ledger, fault))
        print(f"authorised: 1, happened: {len(ledger.read_text().splitlines())}; the model was told: {told}")


if __name__ == "__main__":
    main()

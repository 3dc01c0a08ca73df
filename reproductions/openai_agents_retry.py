"""OpenAI Agents SDK: an MCP server with max_retry_attempts. The model asks once; call one is not answered. How many effects?

    pip install openai-agents==0.24.0
    python openai_agents_retry.py [ATTEMPTS]      # default 2; the SDK's own default is 0

The model is a script in this file: it asks for one call, and ends when it is told anything.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

SERVER = str(Path(__file__).with_name("ledger_server.py"))


class Script(Model):
    """Asks for one charge, never for a second."""

    told = ""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002
        """One call, or the end."""
        results = [item for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        if results:
            self.told = str(results[-1]["output"])
            text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
            said: Any = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        else:
            said = ResponseFunctionToolCall(type="function_call", call_id="c", name="charge", arguments='{"amount": 100}')
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Not used here."""
        raise NotImplementedError


async def run(ledger: Path, attempts: int) -> str:
    """What the model was told."""
    set_tracing_disabled(True)
    model = Script()
    params: Any = {"command": sys.executable, "args": [SERVER, str(ledger), "hang-once"]}
    async with MCPServerStdio(params=params, max_retry_attempts=attempts) as server:
        agent = Agent(name="payer", model=model, mcp_servers=[server])
        await Runner.run(agent, "Charge the card once.")
    return model.told


def main() -> None:
    """Print what happened, by the ledger and by what the model was told."""
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        told = asyncio.run(run(ledger, attempts))
        print(f"authorised: 1, happened: {len(ledger.read_text().splitlines())}; the model was told: {told}")


if __name__ == "__main__":
    main()

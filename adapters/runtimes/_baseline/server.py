"""The task's MCP server, reached with the stock SDK client; one connection at a time, opened when it is needed.

A call is one attempt is one ``tools/call``. The SDK's HTTP transport answers a broken POST by cancelling the task that
entered the client; therefore each connection lives in a task of its own, and what breaks it reaches the caller as an
ordinary reply.
"""

from __future__ import annotations

from typing import Any, Literal

import anyio
from anyio.abc import TaskGroup
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.session import ElicitationFnT
from pydantic import ConfigDict, TypeAdapter, ValidationError

from _baseline.reply import Came, Reply
from _baseline.task import Request, Task

CONNECT_S = 15.0
"""Deadline for opening a connection, the tool list included."""
GRACE_S = 3.0
"""Beyond ``tool_call_s``: where even the SDK's own timeout did not end a call, the connection counts as gone."""
CLOSE_S = {"stdio": 8.0, "http": 2.0}
"""Deadline for closing; the SDK itself gives a child process 2 s, then SIGTERM, 2 s, SIGKILL."""


ACCEPTED = types.ElicitResult(action="accept", content={})
"""The user, asked for input, confirms."""


async def accept(context: object, params: object) -> types.ElicitResult:
    """Answers whatever the server asks; the SDK then sends the call again, with the answer."""
    return ACCEPTED


class _OpenParams(types.CallToolRequestParams):
    """Parameters of a call that keep fields the SDK does not know (key carrier ``param``)."""

    model_config = ConfigDict(extra="allow")


class _OpenCall(types.Request[_OpenParams, Literal["tools/call"]]):
    method: Literal["tools/call"] = "tools/call"
    params: _OpenParams


_ANSWER: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)


class Connection:
    """One client session from its handshake to its end, whoever ends it."""

    def __init__(self, server: dict[str, Any], answer: ElicitationFnT) -> None:
        self._server = server
        self._answer = answer
        self._scope = anyio.CancelScope()
        self._ready = anyio.Event()
        self._closing = anyio.Event()
        self._gone = anyio.Event()
        self._client: Client | None = None
        self.cause: BaseException | None = None
        """What ended the connection, where it did not end because it was closed."""

    async def live(self) -> None:
        """Opens, stays until closed or broken; never raises."""
        try:
            with self._scope:
                async with Client(self._target(), elicitation_callback=self._answer) as client:
                    # Without the list the client would fetch it after the first result, to validate that, inside the call.
                    await client.list_tools()
                    self._client = client
                    self._ready.set()
                    await self._closing.wait()
        except Exception as error:  # noqa: BLE001 - whatever breaks a connection is data here
            self.cause = error
        finally:
            self._client = None
            self._gone.set()
            self._ready.set()

    def _target(self) -> StdioServerParameters | str:
        if self._server["transport"] == "stdio":
            return StdioServerParameters(command=self._server["command"], args=self._server["args"])
        return str(self._server["url"])

    async def opened(self) -> bool:
        """Whether the connection is usable within ``CONNECT_S``."""
        with anyio.move_on_after(CONNECT_S):
            await self._ready.wait()
        return self._client is not None

    def usable(self) -> bool:
        return self._client is not None

    async def call(self, request: Request, timeout_s: float) -> types.CallToolResult:
        """One ``tools/call``; raises what the SDK raises, and TimeoutError where the SDK hangs."""
        client = self._client
        if client is None:
            raise ConnectionError("the connection is closed")
        meta: Any = request.meta or None
        with anyio.fail_after(timeout_s + GRACE_S):
            if not request.params:
                return await client.call_tool(request.tool, request.arguments, read_timeout_seconds=timeout_s, meta=meta)
            params = _OpenParams(name=request.tool, arguments=request.arguments, _meta=meta, **request.params)
            while True:
                result = await client.session.send_request(
                    _OpenCall(params=params), _ANSWER, request_read_timeout_seconds=timeout_s
                )
                if isinstance(result, types.CallToolResult):
                    break
                given = dict.fromkeys(result.input_requests or (), ACCEPTED)
                params = params.model_copy(update={"input_responses": given, "request_state": result.request_state})
            if not result.is_error:
                await client.session.validate_tool_result(request.tool, result)
            return result

    async def close(self) -> None:
        """Ends the connection and waits for its end; after the deadline the rest is cancelled."""
        self._closing.set()
        with anyio.move_on_after(CLOSE_S[self._server["transport"]]):
            await self._gone.wait()
        if not self._gone.is_set():
            self._scope.cancel()
            with anyio.move_on_after(CLOSE_S["http"]):
                await self._gone.wait()


class Server:
    """Sends calls, one at a time, over a connection that is opened anew after it died."""

    def __init__(self, task: Task, tasks: TaskGroup, answer: ElicitationFnT = accept) -> None:
        self._task = task
        self._tasks = tasks
        self._answer = answer
        self._connection: Connection | None = None

    async def call(self, request: Request) -> Reply:
        """One attempt. Never raises and never outlives its deadlines."""
        connection = await self._connect()
        if not connection.usable():
            await self.close()
            return Reply(Came.UNCONNECTED, {}, f"not sent, no connection: {_describe(connection.cause)}")
        try:
            result = await connection.call(request, self._task.tool_call_s)
        except Exception as error:  # noqa: BLE001 - every exception is an ending of the attempt
            detail = _describe(error)
            if not connection.usable() or is_gone(error):
                detail = f"{detail} (connection gone{': ' + _describe(connection.cause) if connection.cause else ''})"
                await self.close()
            return Reply(Came.EXCEPTION, _error_document(error), detail)
        document = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        if result.is_error:
            return Reply(Came.IS_ERROR, document, f"isError: {_text(document)}")
        return Reply(Came.RESULT, document, "")

    async def connected(self) -> bool:
        """Opens a connection if there is none; False where that fails. For policies that must know before they dispatch."""
        if not (await self._connect()).usable():
            await self.close()
            return False
        return True

    async def close(self) -> None:
        """Closes the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _connect(self) -> Connection:
        if self._connection is not None and not self._connection.usable():
            await self.close()
        if self._connection is None:
            self._connection = Connection(self._task.server, self._answer)
            self._tasks.start_soon(self._connection.live)
            await self._connection.opened()
        return self._connection


def is_gone(error: Exception) -> bool:
    """Whether an exception of a call means that its connection is of no further use.

    A timeout, another JSON-RPC error or an invalid result leave it usable; a closed connection, a session that the server
    ended (HTTP 404) and every transport error do not.
    """
    if isinstance(error, MCPError):
        # The client says "terminated" for a bare 404; a server that explains its 404 is quoted instead.
        ended = error.code == types.INVALID_REQUEST and error.message in ("Session terminated", "Session not found")
        return ended or error.code == types.CONNECTION_CLOSED
    return not isinstance(error, RuntimeError | ValidationError)


def _error_document(error: Exception) -> dict[str, Any]:
    return error.error.model_dump(mode="json", exclude_none=True) if isinstance(error, MCPError) else {}


def _describe(error: BaseException | None) -> str:
    """One line for an exception; for a group, its first leaf."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if error is None:
        return "no answer in time"
    if isinstance(error, MCPError):
        return f"{error.message} ({error.code})"
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")


def _text(document: dict[str, Any]) -> str:
    blocks = [block.get("text", "") for block in document.get("content") or () if isinstance(block, dict)]
    return " ".join(blocks)[:300]

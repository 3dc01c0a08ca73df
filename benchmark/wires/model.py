"""The model wire: the scripted model behind the endpoints of OpenAI and Anthropic, every exchange in the cell's history."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from aiohttp import web

from benchmark.history import Asked, Conversation, Kind, Told
from benchmark.model import chat, messages, responses
from benchmark.model.conversation import Answer, Garbled, Question
from benchmark.model.script import Move, Script, next_move, understanding
from benchmark.wires.hub import abort
from benchmark.wires.message import parsed
from benchmark.wires.scene import Scene

Json = dict[str, Any]

NAME = "scripted"
API_KEY = "sk-scripted"
MOST_AT_ONCE = 64
"""Requests of one runtime that are under way at the same time."""
MOST_TEXT = 400
"""Characters of what the model was told that the history keeps."""
MOST_NAMES = 64
"""Names of tools on offer that the history keeps."""
_EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class ModelWire:
    """One cell's model; ``changing`` is told right before the model asks for a call with a changed argument."""

    def __init__(self, scene: Scene, script: Script, changing: Callable[[], None]) -> None:
        self._scene = scene
        self._script = script
        self._changing = changing
        self._kept = responses.Kept()
        self._exchanges = 0
        self._under_way = 0

    def task_model(self) -> Json:
        """The ``model`` entry of the task file."""
        root = f"{self._scene.hub_url}/m/{self._scene.token}"
        return {"base_url": f"{root}/v1", "anthropic_base_url": root, "api_key": API_KEY, "name": NAME}

    async def handle(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        """One HTTP request of the runtime."""
        if self._under_way >= MOST_AT_ONCE:
            self._scene.refuse(
                f"the runtime asked the model more than {MOST_AT_ONCE} times at once: the others were refused"
            )
            return web.Response(status=503)
        self._under_way += 1
        try:
            return await self._handled(request, path.split("?", maxsplit=1)[0])
        except web.HTTPRequestEntityTooLarge:
            self._scene.refuse("the runtime sent the model a request that is too large: it was refused")
            raise
        finally:
            self._under_way -= 1

    async def _handled(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        scene = self._scene
        incarnation = scene.incarnation
        body = await request.read()
        if not scene.may_say(len(body)):
            return web.Response(status=429)
        if incarnation in scene.dead or not await scene.fault.on_message(f"model request {path}", incarnation):
            await scene.never()
            abort(request)
            return web.Response(status=502)
        if request.method == "GET":
            return self._listed(request, path)
        if request.method != "POST" or path not in _DIALECTS:
            return self._refused(path, 404, Garbled(f"The model has no {request.method} {path[:80]}"))
        told = parsed(body)
        try:
            if told is None:
                raise Garbled("The request is no JSON object, or too deep")
            return await self._answered(request, path, told, incarnation)
        except Garbled as wrong:
            return self._refused(path, 400, wrong)

    async def _answered(self, request: web.BaseRequest, path: str, body: Json, incarnation: int) -> web.StreamResponse:
        question = self._read(path, body)
        if path == _COUNT:
            return web.json_response(messages.counted(question))
        move = next_move(self._script, question)
        self._record(path, question, move, incarnation)
        if path == _RESPONSES:
            self._kept.keep(question, move.answer)
        if not question.stream:
            return web.json_response(_whole(path, question, move.answer))
        return await _streamed(request, _pieces(path, question, move.answer))

    def _read(self, path: str, body: Json) -> Question:
        match path:
            case "/v1/chat/completions":
                return chat.read(body)
            case "/v1/responses":
                return responses.read(body, self._kept)
            case _:
                return messages.read(body)

    def _record(self, path: str, question: Question, move: Move, incarnation: int) -> None:
        self._exchanges += 1
        number = self._exchanges
        record = self._scene.recorder.record
        seen = understanding(self._script, question.conversation)
        asking = Conversation(
            identity=question.conversation.identity,
            turn=seen.turn,
            told=tuple(
                Told(
                    declared=one.declared,
                    nth=one.nth,
                    word=one.told.word.value if one.told is not None else None,
                    receipts=one.told.receipts if one.told is not None else (),
                    text=one.text[:MOST_TEXT],
                )
                for one in seen.attempts
            ),
            tools=tuple(tool.name for tool in question.conversation.tools[:MOST_NAMES]),
        )
        streaming = ", streaming" if question.stream else ""
        record(
            Kind.MODEL_REQUEST,
            exchange=number,
            incarnation=incarnation,
            asking=asking,
            detail=f"{_DIALECTS[path]}{streaming}",
        )
        if move.changed:
            self._changing()
        lacking = f"the tool {move.lacking} is not on offer" if move.lacking is not None else None
        record(
            Kind.MODEL_REPLY,
            exchange=number,
            incarnation=incarnation,
            asked=tuple(_asked(move)),
            detail=lacking or (move.answer.text or None),
        )

    def _listed(self, request: web.BaseRequest, path: str) -> web.Response:
        """``/v1/models`` and ``/v1/models/NAME``, as the asking SDK expects them."""
        anthropic = "anthropic-version" in request.headers
        entry: Json = {"id": NAME, "object": "model", "created": 0, "owned_by": "benchmark"}
        if anthropic:
            entry = {"id": NAME, "type": "model", "display_name": NAME, "created_at": "1970-01-01T00:00:00Z"}
        if path == f"/v1/models/{NAME}":
            return web.json_response(entry)
        if path == "/v1/models":
            more: Json = {"has_more": False, "first_id": NAME, "last_id": NAME} if anthropic else {"object": "list"}
            return web.json_response({"data": [entry], **more})
        return self._refused(path, 404, Garbled(f"The model has no GET {path[:80]}"))

    def _refused(self, path: str, status: int, wrong: Garbled) -> web.Response:
        """An error in the words of the dialect; the history notes it once."""
        self._scene.refuse(f"the model was asked for what it cannot answer, and refused: {str(wrong)[:200]}")
        kind = "not_found_error" if status == 404 else "invalid_request_error"
        if path in (_MESSAGES, _COUNT):
            told: Json = {"type": "error", "error": {"type": kind, "message": str(wrong)}}
        else:
            told = {"error": {"message": str(wrong), "type": kind, "param": wrong.parameter, "code": wrong.code}}
        return web.json_response(told, status=status)


_CHAT, _RESPONSES, _MESSAGES, _COUNT = (
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
)
_DIALECTS = {
    _CHAT: "OpenAI chat completions",
    _RESPONSES: "OpenAI responses",
    _MESSAGES: "Anthropic messages",
    _COUNT: "Anthropic token count",
}


def _asked(move: Move) -> Iterator[Asked]:
    for call in move.answer.calls:
        planned = move.planned
        yield Asked(
            id=call.id,
            name=call.name,
            tool=planned.tool if planned is not None else None,
            arguments=call.arguments,
            declared=planned.declared if planned is not None else None,
            nth=move.nth,
            changed=move.changed,
        )


def _whole(path: str, question: Question, answer: Answer) -> Json:
    dialect = {_CHAT: chat.whole, _RESPONSES: responses.whole, _MESSAGES: messages.whole}
    return dialect[path](question, answer)


def _pieces(path: str, question: Question, answer: Answer) -> Iterator[str]:
    """The events of a stream, as they are sent."""
    if path == _CHAT:
        yield from (f"data: {data}\n\n" for data in chat.pieces(question, answer))
        return
    named = responses.pieces if path == _RESPONSES else messages.pieces
    yield from (f"event: {name}\ndata: {json.dumps(event)}\n\n" for name, event in named(question, answer))


async def _streamed(request: web.BaseRequest, pieces: Iterable[str]) -> web.StreamResponse:
    response = web.StreamResponse(headers=_EVENT_STREAM)
    await response.prepare(request)
    with suppress(ConnectionError):  # a runtime that has what it wants may hang up at once
        for piece in pieces:
            await response.write(piece.encode())
        await response.write_eof()
    return response

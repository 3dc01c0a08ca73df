"""The HTTP front of the ledger: one process, many namespaces, each with its own database::

PUT    /_namespaces/NS   {"database": PATH, "retention_s": seconds or null, "stock": names, or nothing}
DELETE /_namespaces/NS
POST   /NS/charges | /NS/refunds | /NS/messages | /NS/resources | /NS/deletions | /NS/legs | /NS/jobs
GET    the same with ?field=value
POST   /NS/transfers     {"accounts": [source, target], "amount": …}: two legs in one transaction
PUT    /NS/objects/PATH
POST   /NS/undo          {"receipt": …}
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from aiohttp import web
from journal import EVENTS, Answer, Ledger, Terms

NAMESPACES: web.AppKey[dict[str, Ledger]] = web.AppKey("namespaces", dict)


def terms_of(request: web.Request) -> Terms:
    """The headers that ask for a key (that keeps refusals), binding fields, a unique reference or handle, creation only."""
    binding = request.headers.get("Idempotency-Binding")
    return Terms(
        key=request.headers.get("Idempotency-Key"),
        binding=None if binding is None else tuple(name.strip() for name in binding.split(",") if name.strip()),
        reference_unique=request.headers.get("Reference-Unique", "").lower() in ("true", "until-void"),
        until_void=request.headers.get("Reference-Unique", "").lower() == "until-void",
        create_only=request.headers.get("If-None-Match") == "*",
        if_taken={"refuse": "refuse", "return": "return"}.get(request.headers.get("If-Taken", "")),  # type: ignore[arg-type]
        keeps_errors=request.headers.get("Idempotency-Errors") == "replay",
    )


def seconds(value: Any) -> float | None:
    """A number of seconds, or None for null; templates may hand over either as text."""
    return None if value in (None, "", "null", "None") else float(value)


def reply(answer: Answer) -> web.Response:
    return web.json_response(answer.body, status=answer.status)


async def body_of(request: web.Request) -> dict[str, Any] | None:
    """The JSON object in the request's body, or None."""
    try:
        body = json.loads(await request.read())
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


async def make(request: web.Request) -> web.Response:
    """Opens a namespace; 409 if it is open already."""
    name, namespaces, body = request.match_info["namespace"], request.app[NAMESPACES], await body_of(request)
    if body is None or not isinstance(body.get("database"), str):
        return reply(Answer(400, {"code": "invalid", "message": "database: the path of a file"}))
    if name in namespaces:
        return reply(Answer(409, {"code": "exists", "message": f"namespace {name!r} is open"}))
    stock = tuple(str(body.get("stock") or "").split())
    namespaces[name] = Ledger(Path(body["database"]), seconds(body.get("retention_s")), stock=stock)
    return reply(Answer(201, {"namespace": name}))


async def drop(request: web.Request) -> web.Response:
    """Ends a namespace; its database stays."""
    ledger = request.app[NAMESPACES].pop(request.match_info["namespace"], None)
    if ledger is not None:
        ledger.close()
    return reply(Answer(200, {"dropped": ledger is not None}))


async def serve(request: web.Request) -> web.Response:
    """One request below a namespace; answered after its transaction is committed."""
    body = await body_of(request) if request.method in ("POST", "PUT") else {}
    ledger = request.app[NAMESPACES].get(request.match_info["namespace"])
    path = "/" + request.match_info["path"]
    if ledger is None:
        return reply(Answer(404, {"code": "unknown", "message": "no such namespace"}))
    if body is None:
        return reply(Answer(400, {"code": "invalid", "message": "the body is not a JSON object"}))
    match request.method, path:
        case "POST", "/undo":
            return reply(ledger.undo(body.get("receipt")))
        case "POST", "/transfers":
            return reply(ledger.transfer(body, terms_of(request)))
        case "POST", _ if path in EVENTS:
            return reply(ledger.post(path, body, terms_of(request)))
        case "GET", _ if path in EVENTS:
            return reply(ledger.find(path, dict(request.query)))
        case "PUT", _ if path.startswith("/objects/") and path != "/objects/":
            return reply(ledger.put(path.removeprefix("/objects/"), body, terms_of(request)))
        case _:
            return reply(Answer(404, {"code": "unknown", "message": f"no such endpoint: {request.method} {path}"}))


async def health(_request: web.Request) -> web.Response:
    return web.Response(text="ok")


async def closing(app: web.Application) -> AsyncIterator[None]:
    yield
    for ledger in app[NAMESPACES].values():
        ledger.close()


def application() -> web.Application:
    app = web.Application()
    app[NAMESPACES] = {}
    app.cleanup_ctx.append(closing)
    app.router.add_get("/_health", health)
    app.router.add_put("/_namespaces/{namespace}", make)
    app.router.add_delete("/_namespaces/{namespace}", drop)
    app.router.add_route("*", "/{namespace}/{path:.*}", serve)
    return app


def main() -> None:
    parser = argparse.ArgumentParser(description="The ledger provider, on 127.0.0.1.")
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    # Three descriptors a namespace: the usual soft limit of 1024 would end hundreds of them.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    web.run_app(application(), host="127.0.0.1", port=port, print=None, access_log=None, shutdown_timeout=1.0)


if __name__ == "__main__":
    main()

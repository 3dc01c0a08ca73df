"""The way to the provider: plain HTTP, one connection a request, no time limit, no repetition."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from benchmark.toolserver.steps import Lost, Reply, Step


@dataclass
class Attempt:
    """One call on its way; ``abort`` (from another thread) ends what it waits for and lets it send nothing more."""

    aborted: bool = False
    socket: socket.socket | None = field(default=None)

    def abort(self) -> None:
        self.aborted = True
        if self.socket is not None:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True)
class Upstream:
    """The provider's API below ``base``, an ``http://`` URL."""

    base: str

    def send(self, step: Step, attempt: Attempt) -> Reply:
        """Makes the request and returns its answer; raises Lost."""
        if attempt.aborted:
            raise Lost("aborted")
        where = urlsplit(self.base)
        connection = http.client.HTTPConnection(where.hostname or "127.0.0.1", where.port)
        try:
            connection.connect()
            attempt.socket = connection.sock
            self._write(connection, where.path, step)
            response = connection.getresponse()
            data = response.read()
            return Reply(response.status, _json(data), data.decode("utf-8", "replace"))
        except (OSError, http.client.HTTPException) as error:
            raise Lost(repr(error)) from error
        finally:
            attempt.socket = None
            connection.close()

    @staticmethod
    def _write(connection: http.client.HTTPConnection, prefix: str, step: Step) -> None:
        headers = {"Connection": "close", **step.all_headers()}
        if step.method == "GET":
            query = f"?{urlencode(step.body)}" if step.body else ""
            connection.request("GET", f"{prefix}{step.path}{query}", headers=headers)
        else:
            headers.setdefault("Content-Type", "application/json")
            content = json.dumps(step.body) if step.content is None else step.content
            connection.request(step.method, prefix + step.path, content.encode(), headers)


def _json(data: bytes) -> dict[str, Any]:
    """The JSON object; empty where there is none (a proxy's error page)."""
    try:
        body = json.loads(data)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}

"""The gate: where an effect crosses no network, the mutation stands between two brackets that are asked for leave.

One connection a mutation, one JSON object a line. Silence blocks for ever; an errno is an I/O error at that place.
"""

from __future__ import annotations

import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from benchmark.toolserver.steps import Lost, Made, Prepare, Reply, Step
from benchmark.toolserver.upstream import Attempt


@dataclass(frozen=True)
class Gate:
    """Mutations below ``root``, bracketed at the Unix socket ``path`` (None: not bracketed)."""

    path: str | None
    root: Path
    instance: str
    prepare: Prepare

    def send(self, step: Step, attempt: Attempt) -> Reply:
        """Makes the mutation between its brackets; raises Invalid before the first, Lost at any I/O error."""
        mutate = self.prepare(self.root, step.body)
        if attempt.aborted:
            raise Lost("aborted")
        try:
            if self.path is None:
                return _reply(mutate())
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(self.path)
                attempt.socket = connection
                with connection.makefile("rw", encoding="utf-8") as lines:
                    operation = {"class": step.effect_class, "fields": step.body}
                    self._ask(lines, {"instance": self.instance, "bracket": "before", "op": operation})
                    made = mutate()
                    self._ask(lines, {"bracket": "after", "receipt": made.receipt, "committed": made.changed})
            return _reply(made)
        except OSError as error:
            raise Lost(repr(error)) from error
        finally:
            attempt.socket = None

    @staticmethod
    def _ask(lines: TextIO, bracket: dict[str, Any]) -> None:
        """Raises OSError with the errno that came back, or where the other side is gone."""
        lines.write(json.dumps(bracket) + "\n")
        lines.flush()
        answer = lines.readline()
        if not answer:
            raise ConnectionResetError("the gate was closed")
        number = json.loads(answer).get("errno")
        if number is not None:
            raise OSError(number, os.strerror(number))


def _reply(made: Made) -> Reply:
    return Reply(201 if made.changed else 200, {"receipt": made.receipt})

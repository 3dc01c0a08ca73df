"""The exit codes of every ``bench`` command."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended: a sweep that completed is a success, whatever it found (but see ``--fail-on``, ``--expect``)."""

    COMPLETED = 0
    REFUSED = 1
    USAGE = 2
    HARNESS = 3
    UNJUDGED = 4
    NOTHING_RAN = 5
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """What a person is told of the code."""
        return _MEANING[self]


_MEANING: dict[Exit, str] = {
    Exit.COMPLETED: "the sweep completed, whatever it found",
    Exit.REFUSED: "`--fail-on` or `--expect` says no (a stale expectation too)",
    Exit.USAGE: "wrong usage: an argument, a name or a file",
    Exit.HARNESS: "a harness error: the benchmark itself failed in at least one cell",
    Exit.UNJUDGED: "cells ran, but nothing could be judged",
    Exit.NOTHING_RAN: "nothing ran: no cell was selected, or none is applicable",
    Exit.INTERRUPTED: "interrupted; partial results are kept",
}

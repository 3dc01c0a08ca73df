"""Which cells get a page of their own, and how its file is called."""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum

from benchmark.results import CellResult, Verdict

MOST = 2000
"""Pages that are written unasked."""

BAD = frozenset({Verdict.VIOLATED, Verdict.INCOMPLETE, Verdict.UNRESOLVED, Verdict.UNTESTABLE, Verdict.HARNESS_ERROR})
"""Verdicts that somebody will want to look into."""

_SAFE = re.compile(r"[A-Za-z0-9@~_-][A-Za-z0-9.@~_-]{0,199}")


class Pages(StrEnum):
    """``--cells``: auto is all of a small run, and of a large one the bad cells up to a limit."""

    AUTO = "auto"
    ALL = "all"
    BAD = "judged-bad"
    NONE = "none"

    def wants(self, result: CellResult, *, small: bool, written: int) -> bool:
        """Whether this cell gets a page, after so many others."""
        match self:
            case Pages.AUTO:
                return small or (result.verdict in BAD and written < MOST)
            case Pages.ALL:
                return True
            case Pages.BAD:
                return result.verdict in BAD
            case Pages.NONE:
                return False


def file_name(cell: str) -> str:
    """The page's file name: the cell's own name where that is one, else a hash (a damaged file may hold any name)."""
    if _SAFE.fullmatch(cell):
        return f"{cell}.html"
    return f"cell-{hashlib.sha256(cell.encode(errors='surrogatepass')).hexdigest()[:24]}.html"

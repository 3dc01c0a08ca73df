"""``cells.js``: the cells' coordinates and figures in columns, for the list and its filters on the index page.

A script, because a page that was opened from a file may load one, but fetch nothing. Values that repeat stand in a
dictionary; 20,000 cells are about a megabyte. What is graver is kept first where a run has more cells than are listed.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmark.reporting.html.pages import BAD, file_name
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult

MOST = 100_000
"""Cells that are listed."""

LONGEST = 200
"""Characters of a text."""

NAMED = (
    "workload",
    "adapter",
    "boundary",
    "variant",
    "manifestation",
    "transport",
    "protocol",
    "strike",
    "persona",
    "contract",
    "verdict",
    "blame",
    "reason",
    "seen_as",
    "reaction",
)
"""Columns of texts."""

COUNTED = (
    "repeat",
    "extra",
    "duplicates",
    "strays",
    "compensated",
    "missing",
    "false_dedup",
    "unresolved",
    "avoidable",
    "misreported",
    "torn",
    "calls",
    "declared",
    "observed",
)
"""Columns of whole numbers."""


@dataclass
class _Rows:
    """Columns of some cells, texts as indices into their dictionaries."""

    named: list[array[int]] = field(default_factory=lambda: [array("L") for _ in NAMED])
    counted: list[array[int]] = field(default_factory=lambda: [array("q") for _ in COUNTED])
    flags: array[int] = field(default_factory=lambda: array("B"))
    odd: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Row → name and page of a cell whose name is not made of its columns."""

    def __len__(self) -> int:
        return len(self.flags)


class CellData:
    """Columns of all cells, while they are added."""

    def __init__(self) -> None:
        self._texts: list[dict[str, int]] = [{} for _ in NAMED]
        self._bad, self._rest = _Rows(), _Rows()
        self.cells = 0
        self.late: list[str] = []
        """Cells that got their page after they had been added."""

    def add(self, result: CellResult, *, page: bool) -> None:
        """Add a cell; ``page``: it has a page of its own."""
        self.cells += 1
        rows = self._bad if result.verdict in BAD else self._rest
        if len(rows) >= MOST:
            return
        for name, column, texts in zip(NAMED, rows.named, self._texts, strict=True):
            column.append(_index(texts, getattr(result, name)))
        for name, numbers in zip(COUNTED, rows.counted, strict=True):
            numbers.append(max(0, min(getattr(result, name), 2**53)))
        rows.flags.append(result.truthful | page << 1)
        if result.cell != _regular(result):
            rows.odd[len(rows) - 1] = plain(result.cell, 300), file_name(result.cell)

    @property
    def listed(self) -> int:
        """Cells that the script holds."""
        return min(MOST, len(self._bad) + len(self._rest))

    def script(self) -> Iterator[str]:
        """The script, in pieces."""
        left = MOST - len(self._bad)
        yield f"window.benchCells={{n:{self.listed},all:{self.cells},texts:{{"
        for name, texts in zip(NAMED, self._texts, strict=True):
            yield f"{name}:{_literal([plain(text, LONGEST) for text in texts])},"
        yield "},columns:{"
        for index, name in enumerate(NAMED):
            yield f"{name}:{_numbers(self._bad.named[index], self._rest.named[index], left)},"
        for index, name in enumerate(COUNTED):
            yield f"{name}:{_numbers(self._bad.counted[index], self._rest.counted[index], left)},"
        yield f"flags:{_numbers(self._bad.flags, self._rest.flags, left)}}},odd:{{"
        for offset, rows in ((0, self._bad), (len(self._bad), self._rest)):
            for row, names in rows.odd.items():
                yield f"{offset + row}:{_literal(names)},"
        yield f"}},late:{_literal(self.late)}}};\n"


def _index(texts: dict[str, int], found: object) -> int:
    """The number of a text, as it came; it is made harmless when it is written."""
    text = "" if found is None else str(found)[:LONGEST]
    return texts.setdefault(text, len(texts))


def _regular(result: CellResult) -> str:
    """The name that the page makes of the columns."""
    strike = result.strike.replace("/", "~")
    return (
        f"{result.workload}.{result.adapter}.{result.boundary}.{result.variant}.{result.manifestation}."
        f"{result.transport}.{result.protocol}.{strike}.{result.persona}@{result.repeat}"
    )


def _numbers(bad: array[int], rest: array[int], left: int) -> str:
    return json.dumps([*bad, *rest[: max(0, left)]], separators=(",", ":"))


def _literal(data: object) -> str:
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")

"""Which of the tools on offer is the one that the script means. Frameworks rename tools and wrap their descriptions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmark.model.conversation import Offered

FINAL_ANSWER = "final_answer"
"""The tool by which some frameworks want the last word (smolagents)."""


def find(tools: Sequence[Offered], tool: str, description: str, arguments: Sequence[str]) -> Offered | None:
    """The tool on offer: by its description, then by its name, then by its arguments; None: it is not on offer."""
    wanted = _plain(description)
    ranked = [
        ((wanted != "" and wanted in _plain(one.description), _named(one.name, tool), _takes(one, arguments)), one)
        for one in tools
    ]
    fitting = [(rank, one) for rank, one in ranked if rank[0] or rank[1]]
    if not fitting:
        return None
    best = max(rank for rank, _ in fitting)
    return next(one for rank, one in fitting if rank == best)


def is_tool(name: str, tool: str, renamed: str | None) -> bool:
    """Whether a call by this name was one to the tool, which is now on offer as ``renamed``."""
    return name == renamed or _named(name, tool) > 0


def final_answer(tools: Sequence[Offered]) -> Offered | None:
    """The tool that takes the last word, where there is one."""
    return next((one for one in tools if one.name == FINAL_ANSWER), None)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _named(name: str, tool: str) -> int:
    """2: the very name; 1: the name with something before it; 0: another name."""
    if name == tool:
        return 2
    return int(re.search(rf"(?:^|[^A-Za-z0-9]){re.escape(tool)}$", name.replace("-", "_")) is not None)


def _takes(one: Offered, arguments: Sequence[str]) -> bool:
    return not one.properties or one.properties.issuperset(arguments)

"""Reads written reports back: what stands on the index page and in ``cells.js``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

VOID = {"meta", "link", "input", "br", "path", "circle", "rect", "line", "use", "img"}


@dataclass
class Table:
    """One table: its attributes and the text of its cells, row by row."""

    attributes: dict[str, str]
    rows: list[list[str]] = field(default_factory=list)


class Page(HTMLParser):
    """All tables, links and scripts of a page, and every tag that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self.links: list[str] = []
        self.scripts: list[str] = []
        self.resources: list[str] = []
        self.handlers: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self._cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.handlers += [name for name in found if name.startswith("on")]
        if tag == "script":
            self.scripts.append(found.get("src", ""))
        if tag == "a":
            self.links.append(found.get("href", ""))
        self.resources += [found[name] for name in ("src", "poster", "data", "action") if name in found]
        self.resources += [found.get("href", found.get("xlink:href", ""))] if tag in ("link", "image", "use") else []
        if tag == "table":
            self.tables.append(Table(found))
        if tag == "tr" and self.tables:
            self.tables[-1].rows.append([])
        if tag in ("td", "th") and self.tables:
            self.tables[-1].rows[-1].append("")
            self._cell = True
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell:
            self.tables[-1].rows[-1][-1] += data


def read(path: Path) -> Page:
    """A written page."""
    return Page(path.read_text(encoding="utf-8"))


def cells(report: Path) -> dict[str, Any]:
    """The object that ``cells.js`` makes."""
    text = (report / "cells.js").read_text(encoding="utf-8")
    assert text.startswith("window.benchCells={")
    body = text.removeprefix("window.benchCells=").removesuffix(";\n")
    body = re.sub(r'([{,])([a-zA-Z_]+|\d+):(?=["\[{\d])', r'\1"\2":', body)
    return dict(json.loads(re.sub(r",}", "}", body)))

"""A broken rule of the catalogue, and two rules that every kind of entry shares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True)
class Problem:
    """One rule broken: where (keys into the file), what and what to do; ``fatal``: the catalogue is not loaded."""

    keys: tuple[str | int, ...]
    message: str
    fatal: bool = True


Problems = Iterator[Problem]


def slug(name: str) -> Problems:
    if not _SLUG.fullmatch(name):
        yield Problem(("name",), f"{name!r} is no slug; use lower-case letters, digits and single hyphens")


def blank(texts: Mapping[tuple[str | int, ...], str]) -> Problems:
    """Words that somebody reads are never blank."""
    for keys, text in texts.items():
        if not text.strip():
            yield Problem(keys, "is blank; say something")


def repeated(key: str, ids: list[str]) -> Problems:
    for index, each in enumerate(ids):
        if each in ids[:index]:
            yield Problem((key, index, "id"), f"{each!r} is used twice; every id is unique")

"""One TOML declaration: read, placed (which line a key stands on) and validated into its type.

Every mistake becomes a ``CatalogueError`` of one line: ``FILE:LINE: dotted.key: what is wrong; the remedy``.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from benchmark import plainfile
from benchmark.errors import CatalogueError, UsageError, closest

M = TypeVar("M", bound=BaseModel)
Keys = tuple[str | int, ...]

MOST = 80
"""Characters of a key or value that are told in an error."""

_KEY = r"(?:[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*')"
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]\]?")
_ASSIGNED = re.compile(rf"\s*({_DOTTED})\s*=")
_DIGITS = re.compile(r"[\d_]{1000}")
_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_SHORT = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^,\]}\n#]*")
_LONG = {
    '"""': re.compile(r'(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}', re.DOTALL),
    "'''": re.compile(r"(?:[^']|'{1,2}(?!'))*'{3,5}", re.DOTALL),
}


@dataclass(frozen=True)
class Declaration:
    """A parsed TOML file: its content, and where each key of it stands."""

    file: Path
    data: dict[str, Any]
    lines: dict[Keys, int]

    @classmethod
    def read(cls, file: Path) -> Declaration:
        """Raises CatalogueError where the file cannot be read, is no TOML, or holds what JSON cannot."""
        try:
            text = plainfile.text(file)
        except UsageError as error:
            raise CatalogueError(str(error)) from None
        try:
            declaration = cls(file, tomllib.loads(text), positions(text))
            for keys, why in _beyond_json(declaration.data, ()):
                raise declaration.error(keys, why)
        except tomllib.TOMLDecodeError as error:
            raise CatalogueError(_syntax(file, text, error)) from None
        except RecursionError:
            raise CatalogueError(f"{file}:1: is nested too deeply; a declaration has a few levels") from None
        except ValueError:  # Python reads no integer of more than some thousand digits
            line = next((n for n, row in enumerate(text.split("\n"), 1) if _DIGITS.search(row)), 1)
            raise CatalogueError(f"{file}:{line}: a number has too many digits; TOML's integers have 64 bits") from None
        return declaration

    def line(self, keys: Sequence[str | int]) -> int:
        """The line (from 1) of a key, or of the nearest table that encloses it."""
        for length in range(len(keys), 0, -1):
            found = self.lines.get(tuple(keys[:length]))
            if found is not None:
                return found
        return 1

    def error(self, keys: Sequence[str | int], message: str) -> CatalogueError:
        """The error that names this file, the key's line and the key."""
        dotted = ".".join(str(key)[:MOST] for key in keys)
        return CatalogueError(f"{self.file}:{self.line(keys)}: {dotted + ': ' if dotted else ''}{message}")

    def into(self, model: type[M], name: str) -> M:
        """The validated value; ``name`` is what the file's or folder's name demands."""
        try:
            value = model.model_validate_json(json.dumps(self.data), strict=True)  # strict: "3" is no 3, 1 is not true
        except ValidationError as error:
            # an unknown key first: a missing one is mostly the same slip of the pen
            first = min(error.errors(), key=lambda each: (each["type"] != "extra_forbidden", self.line(each["loc"])))
            raise self.error(first["loc"], explained(model, first)) from None
        if getattr(value, "name", name) != name:
            said = f"is {_shown(self.data['name'])}, but the file or folder is called {name!r}; make them equal"
            raise self.error(("name",), said)
        return value


def _beyond_json(value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """Where the data hold what no task file, provider or result could: dates, infinities, giants, NUL characters."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _beyond_json(item, (*keys, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _beyond_json(item, (*keys, index))
    elif isinstance(value, float) and not math.isfinite(value):
        yield keys, f"is {value}, which JSON does not have; give a finite number"
    elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        yield keys, "is beyond the 64 bits of TOML's integers; give it as a string"
    elif isinstance(value, str) and "\0" in value:
        yield keys, "holds a NUL character, which no command or path may; remove it"
    elif isinstance(value, date | time):
        yield keys, "is a date or time, which JSON does not have; put it in quotes"


def _shown(value: object) -> str:
    """A value as its author wrote it, or the beginning of it."""
    told = repr(value)
    return told if len(told) <= MOST else f"{told[:MOST]}…"


def _syntax(file: Path, text: str, error: tomllib.TOMLDecodeError) -> str:
    """One line for a syntax error; tomllib says the line inside its message, but for the end of the document."""
    message = str(error)
    found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    line = int(found[1]) if found else max(len(text.splitlines()), 1)
    said = f"{message[: found.start()]} (column {found[2]})" if found else message
    return f"{file}:{line}: is no valid TOML: {said[0].lower()}{said[1:]}"


def _parts(dotted: str) -> list[str]:
    """The keys of a dotted key, unquoted."""
    return [part if part[0] not in "\"'" else part[1:-1] for part in re.findall(_KEY, dotted)]


def positions(text: str) -> dict[Keys, int]:
    """Key path → line, for every table header, assigned key and item of an array or inline table of a valid TOML text."""
    lines: dict[Keys, int] = {}
    counts: dict[Keys, int] = {}
    table: Keys = ()
    at = number = 0
    source = text.replace("\r\n", "\n")
    while at < len(source):
        number = source.count("\n", 0, at) + 1
        end = source.find("\n", at)
        end = len(source) if end < 0 else end
        row = source[at:end]
        if header := _HEADER.match(row):
            table = _resolved(_parts(header[2]), counts, append=header[1] == "[[")
            lines.setdefault(table, number)
            if header[1] == "[[":
                lines.setdefault(table[:-1], number)
        elif assigned := _ASSIGNED.match(row):
            keys = (*table, *_parts(assigned[1]))
            lines.setdefault(keys, number)
            end = _value(source, at + assigned.end(), keys, lines)
            end = source.find("\n", end) if source.find("\n", end) >= 0 else len(source)
        at = end + 1
    return lines


def _resolved(parts: list[str], counts: dict[Keys, int], *, append: bool) -> Keys:
    """A header's keys with the index of the newest item after each array of tables."""
    keys: Keys = ()
    for position, part in enumerate(parts):
        keys = (*keys, part)
        if append and position == len(parts) - 1:
            counts[keys] = counts.get(keys, -1) + 1
        if keys in counts:
            keys = (*keys, counts[keys])
    return keys


def _value(source: str, at: int, keys: Keys, lines: dict[Keys, int]) -> int:
    """Records the positions inside one value; returns the offset behind it."""
    at = _blank(source, at)
    opened = source[at : at + 1]
    if opened == "[":
        return _array(source, at + 1, keys, lines)
    if opened == "{":
        return _inline(source, at + 1, keys, lines)
    for quote in ('"""', "'''"):
        if source.startswith(quote, at):
            found = _LONG[quote].match(source, at + 3)
            return found.end() if found else len(source)
    found = _SHORT.match(source, at)
    return found.end() if found else at


def _blank(source: str, at: int) -> int:
    """The offset of the next thing that is neither white space nor a comment."""
    found = _BLANK.match(source, at)
    return found.end() if found else at


def _array(source: str, at: int, keys: Keys, lines: dict[Keys, int]) -> int:
    index = 0
    while (at := _blank(source, at)) < len(source) and source[at] != "]":
        lines.setdefault((*keys, index), source.count("\n", 0, at) + 1)
        at = _blank(source, _value(source, at, (*keys, index), lines))
        at += source[at : at + 1] == ","
        index += 1
    return at + 1


def _inline(source: str, at: int, keys: Keys, lines: dict[Keys, int]) -> int:
    while (at := _blank(source, at)) < len(source) and source[at] != "}":
        found = _ASSIGNED.match(source, at)
        if found is None:
            return len(source)
        inner = (*keys, *_parts(found[1]))
        lines.setdefault(inner, source.count("\n", 0, at) + 1)
        at = _blank(source, _value(source, found.end(), inner, lines))
        at += source[at : at + 1] == ","
    return at + 1


def explained(model: type[BaseModel], error: Any) -> str:
    """What is wrong, in the words of a TOML author, with the closest valid name where there is one."""
    loc, kind, context = error["loc"], error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        known = _fields(model, loc[:-1])
        return f"unknown key{closest(str(loc[-1]), known) or '; known keys: ' + ', '.join(known)}"
    if kind == "missing":
        return f"is missing; add the key {loc[-1]!r}"
    if kind in ("literal_error", "enum"):
        expected = str(context["expected"])
        remedy = closest(str(error["input"]), re.findall(r"'([^']*)'", expected))
        return f"is {_shown(error['input'])}, must be {expected}{remedy}"
    if kind == "string_pattern_mismatch":
        return "is blank; say something"
    if kind == "too_short":
        return "is empty; name at least one"
    said = str(error["msg"]).removeprefix("Input ")
    told = f"{said[0].lower()}{said[1:]}"
    return f"{told}, is {_shown(error['input'])}" if not isinstance(error["input"], dict | list) else told


def _fields(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """The valid keys of the table that a location inside ``model`` leads to."""
    current: Any = model
    for key in loc:
        inner = _model(current)
        if isinstance(key, int) or inner is None:
            current = get_args(current)[0] if inner is None and get_origin(current) is tuple else _item(current)
        else:
            fields = inner.model_fields.items()
            current = next((field.annotation for name, field in fields if key in (name, field.alias)), None)
    inner = _model(current)
    return [field.alias or name for name, field in inner.model_fields.items()] if inner else []


def _model(annotation: Any) -> type[BaseModel] | None:
    """The model an annotation stands for (``X`` and ``X | None``), or None."""
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next((each for each in get_args(annotation) if each is not type(None)), None)
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _item(annotation: Any) -> Any:
    """The type of a tuple's items or of a mapping's values."""
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return arguments[1]
    return arguments[0] if arguments and get_origin(annotation) is not Literal else annotation

"""The little type language of ``tool.toml``: its JSON Schema, and the check of a call's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

Json = dict[str, Any]

SCHEMAS: dict[str, Json] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "string[]": {"type": "array", "items": {"type": "string"}, "minItems": 1},
}


class Invalid(Exception):
    """The arguments are wrong; the message says which and why."""


class Taken(Exception):
    """The key is in use with other arguments; ``receipt``: of the effect that it names."""

    def __init__(self, receipt: str) -> None:
        super().__init__(receipt)
        self.receipt = receipt


def split(declared: str) -> tuple[str, bool]:
    """A declared type without its ``?``, and whether it had one."""
    return declared.removesuffix("?"), declared.endswith("?")


def schema(declared: Mapping[str, str]) -> Json:
    """The JSON Schema of a tool's arguments."""
    required = [name for name, kind in declared.items() if not split(kind)[1]]
    properties = {name: dict(SCHEMAS[split(kind)[0]]) for name, kind in declared.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def checked(declared: Mapping[str, str], given: Mapping[str, Any]) -> Json:
    """The arguments, nulls left out and whole numbers as integers; raises Invalid."""
    for name in given:
        if name not in declared:
            raise Invalid(f"there is no argument {name!r}; there are: {', '.join(declared)}")
    found: Json = {}
    for name, kind in declared.items():
        wanted, optional = split(kind)
        value = given.get(name)
        if value is not None:
            found[name] = _value(name, wanted, value)
        elif not optional:
            raise Invalid(f"the argument {name!r} is missing")
    return found


def _value(name: str, wanted: str, value: Any) -> Any:
    """The value as its type has it; raises Invalid."""
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    match wanted:
        case "string":
            right = isinstance(value, str)
        case "integer":
            right = isinstance(value, int) and not isinstance(value, bool)
        case "number":
            right = isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            right = isinstance(value, bool)
        case "string[]":
            right = isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)
        case _:
            raise ValueError(f"tool.toml: {name} has the unknown type {wanted!r}")
    if not right:
        raise Invalid(f"the argument {name!r} is not of type {wanted}")
    return value


def relative(path: str) -> PurePosixPath:
    """The path, if it stays below the folder it is relative to and hides nothing; raises Invalid."""
    found = PurePosixPath(path)
    if found.is_absolute() or not found.parts or any(part.startswith(".") for part in found.parts) or "\0" in path:
        raise Invalid(f"the path {path!r} must be relative and must not have parts that begin with a dot")
    return found

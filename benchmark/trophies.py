"""The trophy list: faults in other people's software that the benchmark found, and what became of them.

A TOML file beside the published results, ``trophies.toml``, one ``[[trophy]]`` each.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from benchmark import plainfile
from benchmark.contracts import Frozen
from benchmark.errors import UsageError

FILE = "trophies.toml"


class Trophy(Frozen):
    """One fault that was found."""

    title: str = Field(description="What goes wrong, in one line.")
    runtime: str = Field(description="Name of the runtime in which it shows.")
    versions: str = Field(default="", description="Versions that have it.")
    found: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="The day, as 2026-01-31.")
    status: Literal["reported", "confirmed", "fixed", "disputed", "not a fault"]
    link: str = Field(default="", pattern=r"^(https://.*)?$", description="Where it was reported.")
    cell: str = Field(default="", description="A cell that shows it.")
    summary: str = Field(default="", description="A few sentences.")


class Trophies(Frozen):
    """The file."""

    trophy: tuple[Trophy, ...] = ()


def read(folder: Path) -> tuple[Trophy, ...]:
    """The trophies of a folder of published results, newest first; none where there is no file. Raises UsageError."""
    path = folder / FILE
    if not path.exists():
        return ()
    text = plainfile.text(path)
    try:
        found = Trophies.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"at line (\d+)", str(error))
        raise UsageError(f"{path}:{place[1] if place else 1}: {error}") from None
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise UsageError(f"{path}:1: {'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}") from None
    return tuple(sorted(found.trophy, key=lambda one: one.found, reverse=True))

"""What the starter of a tool server tells it: the JSON file named by ``BENCH_TOOL``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchmark.errors import UsageError

VARIABLE = "BENCH_TOOL"


class Assignment(BaseModel):
    """Where to listen and what stands behind. Unknown fields are left to later versions."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    instance: str
    transport: Literal["stdio", "http"]
    listen_fd: int | None = Field(default=None, description="http: an inherited TCP socket that listens already.")
    upstream: str | None = Field(default=None, description="Base URL of the provider's API.")
    gate: str | None = Field(default=None, description="Unix socket that brackets mutations of files.")
    root: str | None = Field(default=None, description="Folder of the files.")
    store: str | None = Field(default=None, description="A folder for what all instances of the server remember.")
    resumable: bool = Field(default=False, description="http: streams have event ids and can be resumed (2025-11-25).")
    retention_s: float | None = Field(default=None, description="How long keys are remembered; absent: as tool.toml says.")


def read_assignment() -> Assignment:
    """The assignment; raises UsageError."""
    path = os.environ.get(VARIABLE)
    if path is None:
        raise UsageError(f"a tool server is started with {VARIABLE} set to the path of its assignment")
    try:
        return Assignment.model_validate_json(Path(path).read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(f"{path}: {error}") from None

"""The outcome file that a runtime leaves. Whatever it put there, reading neither waits, nor follows, nor fills memory."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchmark import scratch
from benchmark.results import OutcomeFile

LIMIT = 1 << 20
"""Bytes; what is larger is no outcome."""


def read(file: Path) -> tuple[dict[str, Any] | None, str | None]:
    """The outcome file's content, or None and what is wrong with it."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as source:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None, "the outcome file is no regular file"
            raw = source.read(LIMIT + 1)
        if len(raw) > LIMIT:
            return None, f"the outcome file is larger than {LIMIT} bytes"
        OutcomeFile.model_validate_json(raw)
        content = json.loads(raw)
    except FileNotFoundError:
        return None, "no outcome file"
    except OSError as error:
        why = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror
        return None, f"the outcome file cannot be read: {why}"
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return None, f"broken outcome file: {place + ': ' if place else ''}{first['msg']}"[:300]
    except ValueError as error:
        return None, f"broken outcome file: {error}"[:300]
    return content, None


def discard(file: Path) -> None:
    """Remove the outcome of a killed incarnation, whatever it is."""
    if file.is_dir() and not file.is_symlink():
        scratch.remove(file)
    file.unlink(missing_ok=True)

"""A folder of pages: made, filled with the assets, never put over somebody's files."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

from benchmark.errors import HarnessError, UsageError


def prepare(out: Path, mark: str, *folders: str) -> None:
    """Make the folder and its ``folders``, empty, with the assets; raises UsageError where it holds no pages of ours.

    ``mark``: the file by which it is known to be one of ours.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is no folder; choose another --out")
    if out.is_dir() and any(out.iterdir()) and not (out / mark).is_file():
        raise UsageError(f"{out}: holds something else; choose another --out, or empty it")
    try:
        for name in ("assets", *folders):
            shutil.rmtree(out / name, ignore_errors=True)
            (out / name).mkdir(parents=True, exist_ok=True)
        for asset in resources.files("benchmark.reporting.html").joinpath("assets").iterdir():
            (out / "assets" / asset.name).write_bytes(asset.read_bytes())
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror}") from None


def save(path: Path, text: str) -> None:
    """Write a page; half a surrogate pair becomes ``?``."""
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise HarnessError(f"{path}: cannot be written: {error.strerror}") from error

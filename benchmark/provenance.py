"""Where a run came from: hashes of the suite and of the runtime, git commit, versions, platform."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path

FOLDERS = ("workloads", "adapters/tools", "adapters/providers", "oracles")
"""What a verdict depends on besides the runtime: another runtime, or another version of it, is judged by the same suite."""
SKIPPED = frozenset({"__pycache__", "node_modules", ".venv", ".mypy_cache", ".ruff_cache"})


def bench_version() -> str:
    """Version of this distribution; ``unknown`` in a checkout that was never installed."""
    try:
        return metadata.version("declared-effect-bench")
    except metadata.PackageNotFoundError:
        return "unknown"


def suite_hash(roots: Sequence[Path]) -> str:
    """SHA-256 over the catalogue's files but for its runtimes: names and contents, not where they lie."""
    return _hash((root, path) for root in roots for folder in FOLDERS for path in _files(root / folder))


def runtime_hash(folders: Iterable[Path]) -> str:
    """SHA-256 over the files of a runtime's folders, in the same way; what was installed there is left out."""
    return _hash((folder, path) for folder in folders for path in _files(folder))


def _hash(files: Iterable[tuple[Path, Path]]) -> str:
    digest = hashlib.sha256()
    for root, path in files:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _files(top: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        yield from (Path(place) / name for name in sorted(files) if not name.endswith((".pyc", ".pyo")))


def git_commit(folder: Path) -> str | None:
    """The commit checked out at ``folder`` (``+changes`` where files differ from it); None if it is no repository's root.

    An installed package may well lie inside somebody else's repository, whose commit says nothing about us.
    """
    if not (folder / ".git").exists():
        return None
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return None
    return commit + ("+changes" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """Installed version of each distribution in our own interpreter; ``not installed`` where there is none."""
    found = {}
    for name in distributions:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def describe_platform() -> dict[str, str]:
    """What could make a difference to a result."""
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpus": str(os.cpu_count()),
        "mcp": versions(["mcp"])["mcp"],
    }

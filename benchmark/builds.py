"""Building an environment from its pins: by uv, by npm, or by both; whole, or not at all."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmark import scratch
from benchmark.environments import GET_NODE, Environment, Facts
from benchmark.errors import HarnessError, UsageError

OURS = (
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "UV_PYTHON",
    "UV_PROJECT_ENVIRONMENT",
    "NODE_PATH",
)
"""Variables of ours that must not shape an environment: without bytecode, every import costs two to four times as much."""
UNREACHABLE = re.compile(
    r"dns error|failed to lookup|error sending request|connection refused|network is unreachable|operation timed out"
    r"|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|ENETUNREACH",
    re.IGNORECASE,
)
TELLING = re.compile(r"(?:error:|×|npm (?:error|ERR!)(?! code)) *(.+)", re.IGNORECASE)
NPM = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
"""Exactly the lock file; no package runs a script of its own."""


class BuildError(HarnessError):
    """An environment could not be built, or its pins not be resolved; the message says why."""


def uv() -> str:
    """The program uv; raises UsageError."""
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
        if found is None:
            raise UsageError(f"uv is not installed; {sys.executable} -m pip install uv") from None
        return found


def npm() -> str:
    """The program npm; raises UsageError."""
    found = shutil.which("npm")
    if found is None:
        raise UsageError(f"npm is not installed; {GET_NODE}")
    return found


def install(environment: Environment, waits: Callable[[], None] = lambda: None) -> Facts:
    """Build what is not there yet; raises UsageError, BuildError. ``waits`` is told if another process is building it."""
    environment.lock.parent.mkdir(parents=True, exist_ok=True)
    with _held(environment.lock, waits) as lock:
        facts = environment.facts
        if facts is not None:
            return facts
        scratch.remove(environment.folder)  # what a killed install has left
        began = time.monotonic()
        try:
            _build(environment, lock)
            facts = Facts(size=scratch.size(environment.folder), seconds=round(time.monotonic() - began, 1))
            _mark(environment, facts)
        except BaseException:
            scratch.remove(environment.folder)
            raise
        environment.log.unlink(missing_ok=True)
        return facts


@contextmanager
def _held(file: Path, waits: Callable[[], None]) -> Iterator[int]:
    """The lock, held by this process and by the programs that it starts: a killed install is over when they are."""
    lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waits()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
    finally:
        os.close(lock)


def _build(environment: Environment, lock: int) -> None:
    folder = environment.folder
    folder.mkdir()
    environment.log.write_text("")
    try:
        if environment.python is not None:
            program = uv()
            venv = ("venv", "--quiet", "--allow-existing", "--no-project", "--python", sys.executable, str(folder))
            run((program, *venv), folder, environment.log, lock)
            pip = ("pip", "install", "--quiet", "--python", str(environment.interpreter))
            pinned = ("--require-hashes", "--compile-bytecode", "-r", str(environment.python))
            run((program, *pip, *pinned), folder, environment.log, lock)
        if environment.node is not None:
            for name in ("package.json", "package-lock.json"):
                shutil.copyfile(environment.node.with_name(name), folder / name)
            run((npm(), *NPM), folder, environment.log, lock)
    except BuildError as error:
        raise BuildError(f"{error}; log: {environment.log}") from None


def run(command: Sequence[str], folder: Path, log: Path, *held: int) -> None:
    """Run uv or npm in a folder, its output at the end of ``log``; it inherits what is ``held``. Raises BuildError."""
    with log.open("a") as output:
        done = subprocess.run(
            command,
            cwd=folder,
            env=clean(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=held,
            check=False,
        )
    if done.returncode != 0:
        raise BuildError(reason(log.read_text(errors="replace")))


def clean(environ: Mapping[str, str]) -> dict[str, str]:
    """The user's variables (an index or proxy of theirs is kept), without those of our own interpreter."""
    return {name: value for name, value in environ.items() if name not in OURS}


def reason(log: str) -> str:
    """Why a build failed, in one line."""
    if UNREACHABLE.search(log):
        return "the package registry cannot be reached"
    found = TELLING.search(log)
    lines = [found[1]] if found else log.split("\n")
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "it failed without a word")


def _mark(environment: Environment, facts: Facts) -> None:
    """Say that the environment is whole."""
    told = {"size": facts.size, "seconds": facts.seconds, "pins": [file.name for file in environment.pins]}
    unfinished = environment.marker.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(told) + "\n", encoding="utf-8")
    unfinished.replace(environment.marker)

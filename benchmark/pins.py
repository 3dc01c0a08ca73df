"""Pins: what each environment holds, to the version and the hash; made anew from what a runtime asks for.

``requirements.in`` → ``requirements.txt`` (uv), and ``package.json`` → itself and ``package-lock.json`` (npm: the newest of
each package that it names). Written only when all of it could be resolved, and without the address of any registry.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path

from benchmark.builds import npm, run, uv
from benchmark.environments import Environment
from benchmark.errors import UsageError

PYTHON = "3.11"
"""The oldest Python that the benchmark runs on: what is resolved for it installs on later ones."""
LOCK_ONLY = ("--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved")
COMPILE = ("--quiet", "--upgrade", "--generate-hashes", "--no-emit-index-url", "--no-header", "--python-version", PYTHON)
LOG = "log"

Packages = dict[str, str]
"""Package → version."""


def renew(environment: Environment) -> tuple[Packages, Packages]:
    """Pin the newest, if any is newer; returns what was pinned before and what is now. Raises UsageError, BuildError."""
    before = pinned(environment)
    with tempfile.TemporaryDirectory(prefix="bench-pins-") as name:
        folder = Path(name)
        fresh = Environment(
            python=_compile(environment.python.with_suffix(".in"), folder) if environment.python else None,
            node=_relock(environment.node, folder) if environment.node else None,
        )
        after = pinned(fresh)
        if after != before:
            for new, old in zip(fresh.pins, environment.pins, strict=True):
                beside = old.with_name(old.name + ".unfinished")
                shutil.copyfile(new, beside)
                beside.replace(old)
    return before, after


def pinned(environment: Environment) -> Packages:
    """What its pins say, whether it is built or not; raises OSError."""
    found: Packages = {}
    if environment.python is not None:
        found |= dict(
            re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)", environment.python.read_text(), re.MULTILINE)
        )
    if environment.node is not None:
        locked = json.loads(environment.node.read_text())["packages"]
        found |= {
            place.removeprefix("node_modules/"): package["version"]
            for place, package in locked.items()
            if place and "version" in package
        }
    return found


def _compile(asked: Path, folder: Path) -> Path:
    if not asked.is_file():
        raise UsageError(f"there is no file {asked}; it says what requirements.txt is resolved from")
    shutil.copyfile(asked, folder / asked.name)
    result = folder / "requirements.txt"
    run((uv(), "pip", "compile", *COMPILE, asked.name, "-o", result.name), folder, folder / LOG)
    return result


def _relock(lock: Path, folder: Path) -> Path:
    manifest = folder / "package.json"
    shutil.copyfile(lock.with_name("package.json"), manifest)
    asked: dict[str, str] = json.loads(manifest.read_text()).get("dependencies", {})
    run((npm(), "install", *LOCK_ONLY, "--save-exact", *(f"{name}@latest" for name in asked)), folder, folder / LOG)
    result = folder / "package-lock.json"
    written = json.loads(result.read_text())
    written.pop("name", None)  # npm's default for it is the name of the folder
    result.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    return result

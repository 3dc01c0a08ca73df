"""A uv that needs no network, a runtime with pins, and a cache of its own."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

from benchmark import environments
from benchmark.catalog import load
from benchmark.environments import Environment

RUNTIME = """\
name = "{name}"
title = "Mine"
kind = "mcp-client"
command = ["{{python}}", "agent.py"]
[environment]
{pins}
[versions]
track = ["tiny"]
"""

UV = f"""\
#!{sys.executable}
import os, pathlib, sys, time
here = pathlib.Path(__file__).parent
with (here / "calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
(here / "variables").write_text("\\n".join(os.environ))
place = pathlib.Path.cwd()
if sys.argv[1] == "venv":
    (place / "bin").mkdir()
    (place / "bin/python").symlink_to(sys.executable)
else:
    (here / "begun").touch()
    while (here / "wait").exists():
        time.sleep(0.01)
    failure = here / "failure"
    if failure.exists():
        sys.exit(failure.read_text())
"""
"""Does nothing but what it is told by files beside it: waits while there is a ``wait``, fails with what ``failure`` says."""


def runtime(folder: Path, pins: str = 'python = "requirements.txt"', **files: str) -> Path:
    """A runtime's folder with this [environment]; ``files``: name with _ for . → content."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "runtime.toml").write_text(RUNTIME.format(name=folder.name, pins=pins))
    (folder / "agent.py").write_text("")
    for name, content in ({"requirements_txt": "tiny==1.0\n"} | files).items():
        (folder / name.replace("_", ".")).write_text(content)
    return folder


def environment(folder: Path) -> Environment:
    """The environment of the runtime in this folder."""
    found = environments.of(load().runtime(folder))
    assert found is not None
    return found


def uv(folder: Path) -> Path:
    """The program in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "uv"
    program.write_text(UV)
    program.chmod(0o755)
    return program


def wheel(folder: Path, version: str = "1.0") -> str:
    """A wheel of a package ``tiny``; returns its pin with the hash."""
    info = f"tiny-{version}.dist-info"
    files = {
        "tiny.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    place = folder / f"tiny-{version}-py3-none-any.whl"
    with zipfile.ZipFile(place, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD")))
    return f"tiny=={version} --hash=sha256:{hashlib.sha256(place.read_bytes()).hexdigest()}\n"

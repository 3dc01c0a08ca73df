"""What an entry needs that is not installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from benchmark.entries import Provider


@dataclass(frozen=True)
class Lack:
    """Something that is not installed: cells that need it are ``not-run``."""

    what: str
    remedy: str
    """The command that installs it."""

    def __str__(self) -> str:
        """In one line."""
        return f"{self.what}; {self.remedy}"


def lacking(provider: Provider) -> Lack | None:
    """What a provider needs; None: nothing is lacking."""
    needs = provider.needs
    if needs is None or find_spec(needs.module) is not None:
        return None
    return Lack(f"{provider.name} is not installed", needs.install)

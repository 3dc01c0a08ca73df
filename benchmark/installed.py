"""What a provider needs, and whether it is there."""

from __future__ import annotations

from importlib.util import find_spec

from benchmark.entries import Provider


def lacking(provider: Provider) -> str | None:
    """What is not installed, with the command that installs it; None: nothing is lacking."""
    needs = provider.needs
    if needs is None or find_spec(needs.module) is not None:
        return None
    return f"{provider.name} is not installed; {needs.install}"

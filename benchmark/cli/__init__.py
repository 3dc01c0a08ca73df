"""The command ``bench``."""

from __future__ import annotations


def main() -> None:
    """Run the command line; never shows a traceback for a user's mistake."""
    raise SystemExit("bench: nothing to run yet")

"""Ends at once with status 1."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.exit(1)

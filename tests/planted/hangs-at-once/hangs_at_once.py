"""Waits for ever and ignores SIGTERM."""

from __future__ import annotations

import signal

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()

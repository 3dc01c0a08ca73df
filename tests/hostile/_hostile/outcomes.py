"""Does everything right and leaves something else than an outcome file: ``outcomes.py WHAT``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "planted"))

from _planted.play import Task, play, write


def leave(what: str, path: Path) -> None:
    match what:
        case "huge":
            with path.open("wb") as file:
                for _ in range(100):
                    file.write(b'{"contract": 1, ' + b" " * 1_000_000)
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
            (path / "outcome.json").touch()
        case "link":
            path.symlink_to("/dev/zero")
        case "linked":
            write(path.with_name("elsewhere.json"), [])
            path.symlink_to("elsewhere.json")
        case "deep":
            path.write_text('{"contract": 1, "intents": ' + "[" * 100_000 + "]" * 100_000 + "}")
        case _:
            raise SystemExit(f"what is {what}?")


if __name__ == "__main__":
    found = Task.load()
    if sys.argv[1] == "folder":  # before anything else, so that a kill finds it
        leave("folder", found.outcome_path)
    play(found)
    if sys.argv[1] != "folder":
        leave(sys.argv[1], found.outcome_path)

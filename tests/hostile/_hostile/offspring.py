"""Does everything right, but for what it starts, leaves or kills: ``offspring.py HOW``."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "planted"))

from _planted.play import Task, play, run

DEAF = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


def forked(work: Callable[[], object]) -> int:
    """The pid of a child that does the work and nothing else."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return pid


def linger() -> None:
    """Deaf to every request to end."""
    for number in DEAF:
        signal.signal(number, signal.SIG_IGN)
    while True:
        signal.pause()


def forks() -> None:
    """Children that outlive it, with everything of its open, and children of those."""

    def family() -> None:
        for _ in range(2):
            forked(linger)
        linger()

    for _ in range(3):
        forked(family)
    run()


def daemonises() -> None:
    """A daemon by the book (its own session, no parent, no descriptor) that does the work once more when nobody looks;
    and one that is another program, with an environment that says nothing."""

    def daemon() -> None:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.closerange(0, 100)
        for _ in range(3):
            os.open(os.devnull, os.O_RDWR)
        time.sleep(1.5)
        play(Task.load())
        linger()

    def stranger() -> None:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.execve("/bin/sh", ["sh", "-c", f"sleep 3600; : {Task.load().state_dir}"], {})

    for work in (daemon, stranger):
        os.waitpid(forked(work), 0)
    run()


def deaf() -> None:
    """Never ends, whatever it is told."""
    run()
    linger()


def kills_its_parents_group() -> None:
    """Where its parent is ours, and in a session that is not its own."""
    if any(call.tool == "charge" for intent in Task.load().intents for call in intent.calls):
        os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
        time.sleep(60)
    run()


def lays_traps() -> None:
    """Pipes and links where the conductor writes, a link where it counts bytes, folders that cannot be deleted."""
    task = Task.load()
    scratch = task.state_dir.parent
    os.mkfifo(scratch / "task-2.json")
    for name in "bcd":
        (scratch / f"server-{name}.json").symlink_to("/dev/full")
    run()
    (task.state_dir / "locked").mkdir()
    (task.state_dir / "locked" / "file").touch()
    (task.state_dir / "locked").chmod(0)
    task.state_dir.rename(scratch / "moved")
    task.state_dir.symlink_to("/")


if __name__ == "__main__":
    {
        "forks": forks,
        "daemonises": daemonises,
        "deaf": deaf,
        "kills-its-parents-group": kills_its_parents_group,
        "lays-traps": lays_traps,
    }[sys.argv[1]]()

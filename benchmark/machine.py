"""What this machine offers a sweep: each thing is tried out, not guessed.

A finding is ``broken`` where no sweep can work, ``lacking`` where some cells would be ``not-run``, ``advice`` where a sweep
works but slower or less surely. Whatever is not right has the command that mends it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib import metadata
from pathlib import Path

import psutil

from benchmark.errors import BenchError
from benchmark.provenance import bench_version

MIB = 1 << 20
SOCKET_PATH = 107
"""Bytes of the longest path of a Unix socket (sun_path of unix(7), less its terminating zero)."""
BELOW_SCRATCH = "/bench-12345678/c12345678/wire"
"""The longest path of a socket below the folder for temporary files."""
CELL_FILES, CELL_PROCESSES = 48, 8
"""Open files and processes that a running cell may need, generously."""


class State(StrEnum):
    """How a thing is, from well to worst."""

    OK = "ok"
    ADVICE = "advice"
    LACKING = "lacking"
    BROKEN = "broken"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    group: str
    name: str
    state: State
    found: str
    costs: str = ""
    """What it keeps from working; for ``lacking``: what would be not-run."""
    remedy: str = ""
    """The command or change that mends it."""


@dataclass(frozen=True)
class Told:
    """What a probe found; its group and name are the table's."""

    state: State
    found: str
    costs: str = ""
    remedy: str = ""


Probe = Callable[[], Told]


def machine(*, jobs: int, results: Path) -> tuple[Finding, ...]:
    """Everything in the order in which it is told; ``jobs``: cells at the same time, ``results``: where runs are kept."""
    probes: tuple[tuple[str, str, Probe], ...] = (
        ("installed", "python", _python),
        ("installed", "bench", lambda: Told(State.OK, bench_version())),
        ("installed", "packages", _packages),
        ("installed", "node", partial(_optional, "node", "to run those written for Node")),
        ("installed", "npm", partial(_optional, "npm", "to install runtimes written for Node")),
        ("installed", "bytecode", _bytecode),
        ("network", "loopback", _loopback),
        ("network", "ports", _ports),
        ("processes", "pidfd", _pidfd),
        ("processes", "kill", _kill),
        ("processes", "death signal", _death_signal),
        ("processes", "descriptors", _descriptors),
        ("limits", "open files", partial(_open_files, jobs)),
        ("limits", "processes", partial(_process_limit, jobs)),
        ("limits", "memory", _memory),
        ("limits", "load", _load),
        ("files", "temporary space", _space),
        ("files", "socket path", _socket_path),
        ("files", "results", partial(_results, results)),
    )
    return tuple(tried(group, name, probe) for group, name, probe in probes)


def tried(group: str, name: str, probe: Probe) -> Finding:
    """The probe's finding; one that fails is broken."""
    try:
        told = probe()
    except (OSError, subprocess.SubprocessError, psutil.Error, BenchError) as error:
        told = Told(State.BROKEN, str(error) or type(error).__name__, "every cell needs it")
    return Finding(group, name, told.state, told.found, told.costs, told.remedy)


def _python() -> Told:
    found = f"{platform.python_implementation()} {platform.python_version()}, {platform.system()} {platform.release()}"
    if platform.system() != "Linux":
        return Told(
            State.BROKEN, found, "faults are struck with Linux' process descriptors", "run on Linux, or in a container"
        )
    return Told(State.OK, found)


def _packages() -> Told:
    """Every requirement of the distribution, with its version bound."""
    try:
        requirements = metadata.requires("declared-effect-bench") or []
    except metadata.PackageNotFoundError:
        return Told(
            State.ADVICE, "declared-effect-bench is not installed: versions cannot be compared", remedy="pip install -e ."
        )
    wanted = [requirement for requirement in requirements if "extra ==" not in requirement]
    wrong = [told for requirement in wanted if (told := unmet(requirement))]
    if wrong:
        return Told(State.BROKEN, "; ".join(wrong), "what goes over the wire depends on them", pip(wanted))
    return Told(State.OK, f"all {len(wanted)} as required, mcp {metadata.version('mcp')}")


def unmet(requirement: str) -> str:
    """Why a requirement is not met; empty: it is (bounds other than == and >= are not looked at)."""
    found = re.match(r"([A-Za-z0-9._-]+)\s*(?:(==|>=)\s*([0-9.]+))?", requirement)
    if found is None:
        return ""
    name, sign, bound = found[1], found[2], found[3]
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return f"{name} is not installed"
    if (sign == "==" and version != bound) or (sign == ">=" and _numbers(version) < _numbers(bound)):
        return f"{name} is {version}, needed {sign}{bound}"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def pip(requirements: Sequence[str]) -> str:
    return shlex.join([sys.executable, "-m", "pip", "install", *(part.partition(";")[0].strip() for part in requirements)])


def _optional(program: str, needed: str) -> Told:
    """A program that only some entries need."""
    place = shutil.which(program)
    if place is None:
        return Told(State.OK, f"not installed; needed only {needed}")
    done = subprocess.run([place, "--version"], capture_output=True, text=True, timeout=20, check=False)
    return Told(State.OK, f"{(done.stdout or done.stderr).strip().partition(chr(10))[0][:60]} in {place}")


def _bytecode() -> Told:
    if sys.dont_write_bytecode:
        return Told(
            State.ADVICE, "is not written", "every start of an interpreter compiles anew", "unset PYTHONDONTWRITEBYTECODE"
        )
    return Told(State.OK, "is written")


def _loopback() -> Told:
    """A real connection over 127.0.0.1, both ways."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        with socket.create_connection(address, timeout=5) as ours:
            theirs, _ = server.accept()
            with theirs:
                ours.sendall(b"?")
                theirs.settimeout(5)
                heard = theirs.recv(1)
    if heard != b"?":
        return Told(State.BROKEN, "127.0.0.1 does not carry what is sent", "all wires run over it", "ip link set lo up")
    return Told(State.OK, "127.0.0.1 connects")


def _ports() -> Told:
    try:
        first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("ascii").split())
    except (OSError, ValueError):
        return Told(State.OK, "their range is not told by this system")
    count = last - first + 1
    if count < 4096:
        costs, remedy = "connections may find no free port", "sysctl -w net.ipv4.ip_local_port_range='32768 60999'"
        return Told(State.ADVICE, f"only {count} ephemeral ports", costs, remedy)
    return Told(State.OK, f"{count} ephemeral ports")


def _pidfd() -> Told:
    """A descriptor of our own process that takes a signal."""
    if not hasattr(os, "pidfd_open"):
        return Told(
            State.BROKEN,
            "this Python has no os.pidfd_open",
            "a pid may be another process's",
            "use Python 3.11 or newer on Linux",
        )
    descriptor = os.pidfd_open(os.getpid())
    try:
        signal.pidfd_send_signal(descriptor, 0)
    finally:
        os.close(descriptor)
    return Told(State.OK, "processes are held by descriptor")


def _kill() -> Told:
    """A child in a session of its own that is found, stopped and killed."""
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        seen = any(process.pid == child.pid for process in psutil.Process().children(recursive=True))
        os.kill(child.pid, signal.SIGSTOP)
        os.kill(child.pid, signal.SIGKILL)
        status = child.wait(timeout=10)
    finally:
        child.kill()
        child.wait(timeout=10)
    if not seen:
        return Told(
            State.BROKEN,
            "a child is not listed in /proc",
            "a killed runtime's children would live on",
            "mount /proc without hidepid",
        )
    if status != -signal.SIGKILL:
        return Told(State.BROKEN, f"a killed child ended with status {status}", "kills could not be told from exits")
    return Told(State.OK, "children are found, stopped and killed")


def _death_signal() -> Told:
    """Whether the kernel knows the signal that ends what we started when we die (prctl, only asked for here)."""
    held = ctypes.c_int(0)
    get_pdeathsig = 2
    if ctypes.CDLL(None, use_errno=True).prctl(get_pdeathsig, ctypes.byref(held), 0, 0, 0) != 0:
        return Told(State.BROKEN, os.strerror(ctypes.get_errno()), "a killed benchmark would leave processes behind")
    return Told(State.OK, "children end with their parent")


def _descriptors() -> Told:
    """A descriptor handed over a Unix socket (SCM_RIGHTS)."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        socket.send_fds(ours, [b"x"], [ours.fileno()])
        _, descriptors, _, _ = socket.recv_fds(theirs, 16, 1)
    for descriptor in descriptors:
        os.close(descriptor)
    if len(descriptors) != 1:
        return Told(State.BROKEN, "were not handed over", "the stdio wire and the warm interpreter need it")
    return Told(State.OK, "are handed over Unix sockets")


def _open_files(jobs: int) -> Told:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 256 + jobs * CELL_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return Told(State.OK, f"{_limit(soft)} (about {needed} needed for {jobs} cells at a time)")
    remedy = f"ulimit -n {needed}" if hard == resource.RLIM_INFINITY or hard >= needed else "bench run --jobs 1"
    return Told(
        State.ADVICE, f"{soft}, about {needed} needed for {jobs} cells at a time", "cells may end as harness-error", remedy
    )


def _process_limit(jobs: int) -> Told:
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    allowed = [soft] if soft != resource.RLIM_INFINITY else []
    try:
        told = Path("/sys/fs/cgroup/pids.max").read_text("ascii").strip()
        allowed += [int(told)] if told.isdigit() else []
    except OSError:
        pass
    needed = 64 + jobs * CELL_PROCESSES
    if allowed and min(allowed) < needed:
        costs = "cells may end as harness-error"
        return Told(State.ADVICE, f"{min(allowed)}, about {needed} needed", costs, f"ulimit -u {needed}, or --jobs 1")
    return Told(State.OK, _limit(min(allowed) if allowed else resource.RLIM_INFINITY))


def _limit(value: int) -> str:
    return "unlimited" if value == resource.RLIM_INFINITY else str(value)


def _memory() -> Told:
    free = psutil.virtual_memory().available // MIB
    if free < 1024:
        return Told(State.ADVICE, f"{free} MiB available", "a sweep needs up to 1 GiB", "bench run --jobs 1")
    return Told(State.OK, f"{free} MiB available")


def _load() -> Told:
    cpus, load = os.cpu_count() or 1, os.getloadavg()[0]
    found = f"{load:.1f} on {cpus} {'CPU' if cpus == 1 else 'CPUs'}"
    if load > 2 * cpus:
        costs = "calls slower than the runtime's timeout are run again, so that a sweep takes longer"
        return Told(State.ADVICE, found, costs, "wait for a quieter moment, or bench run --jobs 1")
    return Told(State.OK, found)


def _space() -> Told:
    """Room for scratch folders, and that they can be made at all."""
    folder = Path(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        (Path(made) / "file").write_bytes(b"x" * 4096)
    free = shutil.disk_usage(folder).free // MIB
    if free < 256:
        remedy = "TMPDIR=/a/larger/folder bench run …"
        return Told(State.BROKEN if free < 32 else State.ADVICE, f"{free} MiB free in {folder}", "cells write there", remedy)
    return Told(State.OK, f"{free} MiB free in {folder}")


def _socket_path() -> Told:
    """The longest socket that a cell makes, as long as it will be."""
    folder = tempfile.gettempdir()
    length = len(os.fsencode(folder + BELOW_SCRATCH))
    if length > SOCKET_PATH:
        costs = f"sockets below {folder} would have {length} bytes, {SOCKET_PATH} are allowed"
        return Told(State.BROKEN, f"{folder} is too long", costs, "TMPDIR=/tmp bench run …")
    with tempfile.TemporaryDirectory(prefix="bench-") as made, socket.socket(socket.AF_UNIX) as server:
        server.bind(str(Path(made) / "wire"))
    return Told(State.OK, f"{length} of {SOCKET_PATH} bytes below {folder}")


def _results(results: Path) -> Told:
    """Whether a run could be made, and locked, where runs are kept."""
    folder = next(place for place in (results, *results.absolute().parents) if place.is_dir())
    try:
        with tempfile.NamedTemporaryFile(prefix=".bench-", dir=folder) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        costs = "a run keeps its results there"
        return Told(State.BROKEN, f"{folder}: {error.strerror}", costs, "bench run --out /a/writable/folder …")
    return Told(State.OK, f"{results.absolute()} can be written")

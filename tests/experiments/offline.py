"""Does a runtime ask for anything outside of this machine? ``python -m tests.experiments.offline RUNTIME…``.

Its cells are run in a network of their own (Linux namespaces, iproute2), where everything but loopback leads to a wire that
ends nowhere. What arrives there is read as it is: who was to be asked for a name, and which addresses were to be spoken
to. Telemetry, an update check or a real model would show. Prints what was seen of each; exit status 1 where a
sweep failed or anything was seen.
"""

from __future__ import annotations

import contextlib
import ipaddress
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from benchmark.catalog import load
from benchmark.store import Store

OWN = ("unshare", "--user", "--map-root-user", "--net", "--mount")
WIRE = """
set -e
ip link set lo up
ip link add wire type veth peer name far
ip link set far up
ip addr add 192.0.2.1/24 dev wire
ip -6 addr add 2001:db8::1/64 dev wire nodad 2>/dev/null || true
ip link set wire up
ip neigh replace 192.0.2.254 lladdr 02:00:00:00:00:01 dev wire nud permanent
ip route add default via 192.0.2.254 dev wire
ip -6 neigh replace 2001:db8::254 lladdr 02:00:00:00:00:01 dev wire nud permanent 2>/dev/null || true
ip -6 route add default via 2001:db8::254 dev wire 2>/dev/null || true
printf 'nameserver 198.51.100.53\noptions timeout:1 attempts:1\n' > "$1"
mount --bind "$1" /etc/resolv.conf
"""
CELLS = (("none", "-", "-"), ("before-delivery", "-", "error"), ("before-delivery", "-", "crash"))
EVERYTHING = 0x0003
"""ETH_P_ALL (packet(7))."""
NAME_SERVICE = 53


def possible() -> bool:
    """Whether this machine lets us have a network of our own."""
    if not (shutil.which("unshare") and shutil.which("ip")):
        return False
    with tempfile.TemporaryDirectory() as folder:
        tried = [*OWN, "sh", "-c", WIRE, "sh", f"{folder}/resolv.conf"]
        return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def asked(packet: bytes) -> str | None:
    """What a frame of the wire wants of whom; None: it is none that a program sent (neighbour discovery and the like)."""
    kind, data = struct.unpack("!H", packet[12:14])[0], packet[14:]
    if kind == 0x0800:
        header, protocol, target = (data[0] & 15) * 4, data[9], data[16:20]
    elif kind == 0x86DD:
        header, protocol, target = 40, data[6], data[24:40]
    else:
        return None
    if protocol not in (socket.IPPROTO_TCP, socket.IPPROTO_UDP):
        return None
    payload = data[header:]
    port = struct.unpack("!H", payload[2:4])[0]
    if protocol == socket.IPPROTO_UDP and port == NAME_SERVICE:
        return f"the name {_name(payload[8 + 12 :])}"
    return f"{'tcp' if protocol == socket.IPPROTO_TCP else 'udp'} {ipaddress.ip_address(target)} port {port}"


def _name(question: bytes) -> str:
    """The name that a question of DNS asks for (RFC 1035 §4.1.2)."""
    labels = []
    while question and question[0]:
        labels.append(question[1 : 1 + question[0]].decode("ascii", "replace"))
        question = question[1 + question[0] :]
    return ".".join(labels)


@contextlib.contextmanager
def listening() -> Iterator[set[str]]:
    """What reaches the far end of the wire while this is open."""
    seen: set[str] = set()
    ended = threading.Event()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERYTHING)) as far:
        far.bind(("far", 0))
        far.settimeout(0.1)

        def listen() -> None:
            while not ended.is_set():
                with contextlib.suppress(TimeoutError):
                    if (what := asked(far.recv(65535))) is not None:
                        seen.add(what)

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            yield seen
            time.sleep(0.3)
        finally:
            ended.set()
            listener.join()


def cells(runtime: str) -> list[str]:
    """The cells of the experiment, in every mode and with every persona that the runtime has."""
    able = load().runtime(runtime).value.capabilities
    return [
        f"charge-card.find-only.{boundary}.{variant}.{how}.{transport}.{protocol}.first-once.{persona}@1"
        for boundary, variant, how in CELLS
        for transport in able.transports
        for protocol in able.protocols
        for persona in (("once", "retry") if able.model else ("-",))
    ]


def measure(runtime: str, folder: Path) -> bool:
    """Run, listen, print; False: something was asked for, or the sweep says nothing."""
    out = folder / Path(runtime).name
    chosen = [argument for cell in cells(runtime) for argument in ("--cell", cell)]
    command = [sys.executable, "-m", "benchmark", "run", "--runtime", runtime, "--out", str(out), "--no-report", *chosen]
    with listening() as seen:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        print(f"{runtime}: exit status {ended.returncode}: {ended.stderr.strip()[-300:]}", flush=True)
        return False
    judged = sum(result.verdict.judged for result in Store.open(out).results())
    print(f"{runtime}: {judged} cells judged; asked outside for {', '.join(sorted(seen)) or 'nothing'}", flush=True)
    return judged > 0 and not seen


def inside(runtimes: list[str]) -> int:
    """Within the network of our own: lay the wire, and measure each."""
    with tempfile.TemporaryDirectory(prefix="offline-") as name:
        subprocess.run(["sh", "-c", WIRE, "sh", str(Path(name) / "resolv.conf")], check=True)
        told = [measure(runtime, Path(name)) for runtime in runtimes]
    return int(not all(told))


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--inside"]:
        return inside(arguments[1:])
    if not possible():
        print("no network of its own is to be had here: that takes user namespaces, unshare (util-linux) and ip (iproute2)")
        return 1
    command = [*OWN, sys.executable, "-m", "tests.experiments.offline", "--inside", *arguments]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What a runtime launches over stdio, believing it to be the MCP server.

Hands its stdin and stdout to the conductor over a Unix socket (SCM_RIGHTS) and lives exactly as long as the server
behind the wire: it ends when the conductor closes the connection, with the status that the conductor sent. Standard
library only, and started with ``python -I -S``, for it stands in every stdio cell's way.
"""

import os
import signal
import socket
import sys


def main(path: str) -> None:
    """Give descriptors 0 and 1 away and wait for the end."""
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    wire.connect(path)
    socket.send_fds(wire, [b"stdio"], [0, 1])
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    said = wire.recv(16)  # empty: the conductor is gone, or the server ended without a status
    status = int(said or b"0")
    if status < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1])

"""The command ``bench``."""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Callable, Sequence
from functools import cache

from benchmark.errors import HarnessError, UsageError
from benchmark.exits import Exit

LONGEST = 1000
"""Characters of an error; what a user gave may be any length, and may hold what a terminal obeys."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line (the process's own by default) and exit with a code of ``benchmark.exits``.

    A user's mistake is told in one line on standard error, never as a traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a sign gets another, not a traceback
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: list[str]) -> int:
    """The exit code of a command line."""
    from typer.exceptions import Abort, TyperException

    try:
        ended = _command()(args=arguments or ["--help"], prog_name="bench", standalone_mode=False)
        return int(ended or Exit.COMPLETED)
    except TyperException as error:
        return _said(_format(error), Exit.USAGE)
    except UsageError as error:
        return _said(str(error), Exit.USAGE)
    except HarnessError as error:
        return _said(f"the benchmark itself failed: {error}", Exit.HARNESS)
    except (KeyboardInterrupt, Abort):
        return _said("interrupted", Exit.INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has gone: nobody is left to tell
        sys.stderr.close()
        return Exit.COMPLETED
    except OSError as error:
        return _said(_file_fault(error), Exit.HARNESS if error.errno in _OURS else Exit.USAGE)


@cache
def _command() -> Callable[..., int | None]:
    """The whole command, put together once: it takes longer than most of what it does."""
    import typer

    from benchmark.cli.app import app

    return typer.main.get_command(app)


_OURS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
"""Errors of the machine rather than of what the user named."""


def _file_fault(error: OSError) -> str:
    """A file or folder that could not be used, and where to look."""
    what = " → ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
    why = error.strerror or str(error)
    return f"{what}: {why}" if what else f"{why} (see bench doctor)"


def _format(error: Exception) -> str:
    """The message of a command-line mistake."""
    tell = getattr(error, "format_message", None)
    message = str(tell() if tell is not None else error)
    return f"{message} (see bench --help)" if message else "see bench --help"


def _said(message: str, code: Exit) -> int:
    from benchmark.reporting.untrusted import plain

    print(f"bench: {plain(' '.join(message.split()), LONGEST)}", file=sys.stderr)
    return code

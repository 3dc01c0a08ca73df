"""The command ``bench``."""

from __future__ import annotations

import errno
import io
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from benchmark.errors import HarnessError, UsageError, closest
from benchmark.exits import Exit

if TYPE_CHECKING:
    from typer.exceptions import TyperException

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
        _refuse_blanks(arguments)
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


def _refuse_blanks(arguments: list[str]) -> None:
    """An empty argument is mostly a shell variable that is not set; as a path it would mean the working directory."""
    for before, argument in zip(["bench", *arguments], arguments, strict=False):
        if not argument:
            raise UsageError(f"the argument after {before} is empty; is a shell variable not set?")
        if "\0" in argument:
            raise UsageError(f"the argument after {before} holds a NUL character, which no name may")


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
    what = " → ".join(str(name)[:100] for name in (error.filename, error.filename2) if name is not None)
    why = error.strerror or str(error)
    return f"{what}: {why}" if what else f"{why} (see bench doctor)"


def _format(error: TyperException) -> str:
    """The message of a command-line mistake, with the closest choice and the help that helps."""
    tell = getattr(error, "format_message", None)
    said = (
        str(tell() if tell is not None else error).rstrip(".").replace("Value error, ", "").replace("Input should", "should")
    )
    choices = re.search(r"'([^']*)' is not one of (.+)", said)
    if choices is not None:
        said += closest(choices[1], re.findall(r"'([^']*)'", choices[2]))
    path = getattr(getattr(error, "ctx", None), "command_path", "bench")
    return f"{said}; see {path} --help" if said else f"see {path} --help"


def _said(message: str, code: Exit) -> int:
    from benchmark.reporting.untrusted import plain

    told = plain(" ".join(message.split()), 100 * LONGEST)
    if len(told) > LONGEST:  # what is wrong mostly stands at one end, and the remedy at the other
        told = f"{told[: LONGEST // 2]} … {told[-LONGEST // 2 :]}"
    print(f"bench: {told}", file=sys.stderr)
    return code

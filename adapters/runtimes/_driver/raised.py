"""What a framework raised, out of the groups that task groups put around it. Standard library only."""

from __future__ import annotations


def innermost(error: BaseException) -> BaseException:
    """The error itself; of a group, its first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def told(error: BaseException) -> str:
    """Its kind and message, in a line that an outcome file may hold."""
    return f"{type(error).__name__}: {error}"[:300]

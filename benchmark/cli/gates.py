"""What a finished sweep is worth as an exit code: ``--fail-on``, ``--expect``, and whether anything could be judged."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark import expectations
from benchmark.errors import UsageError
from benchmark.exits import Exit
from benchmark.expectations import Comparison, Expectation
from benchmark.reporting.console import console, say
from benchmark.results import CellResult, Verdict


@dataclass(frozen=True)
class Gates:
    """What turns a completed sweep into exit code 1."""

    fail_on: tuple[str, ...]
    expected: tuple[Expectation, ...] | None
    update: Path | None = None
    """The expectations file, where it is to be made to agree with the run."""

    @classmethod
    def of(cls, fail_on: Sequence[str], expect: Path | None, *, update: bool) -> Gates:
        """What the command line asks for; raises UsageError naming file and line."""
        names = tuple(expectations.named(name, "--fail-on") for name in fail_on)
        if expect is None:
            if update:
                raise UsageError("--update-expect: which file? give it with --expect FILE")
            return cls(names, None)
        read = () if update and not expect.exists() else expectations.read(expect)
        return cls(names, read, expect if update else None)

    def complaints(self, results: Sequence[CellResult], *, narrowed: bool) -> list[str]:
        """One line for everything that is not as demanded."""
        told = []
        for name in self.fail_on:
            shown = [one.cell for one in results if one.truthful and expectations.shows(one, name)]
            if shown:
                told.append(f"--fail-on {name}: {len(shown)} {'cell' if len(shown) == 1 else 'cells'}, such as {shown[0]}")
        if self.expected is not None:
            difference = expectations.compare(self.expected, results, narrowed=narrowed)
            if self.update is not None:
                self._update(self.update, difference, results, narrowed)
                return told
            told += [f"not expected: {surprise.line}" for surprise in difference.new]
            told += [
                f"{one.place}: stale, no cell shows it any more: {one.pattern}  {one.shows}" for one in difference.stale
            ]
        return told

    def _update(self, file: Path, difference: Comparison, results: Sequence[CellResult], narrowed: bool) -> None:
        try:
            before = file.read_text(encoding="utf-8") if file.exists() else ""
            after = expectations.updated(before, difference, results, narrowed=narrowed)
            if after != before:
                file.write_text(after, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{file}: cannot be written: {error.strerror}") from None
        errors = console(sys.stderr)
        say(errors, f"{file}: {len(difference.new)} new, {len(difference.stale)} stale; it agrees with this run now")


def verdict(results: Sequence[CellResult], *, interrupted: bool, refused: bool) -> Exit:
    """The exit code of a sweep with these results; the first that fits, what makes the others doubtful first."""
    ran = [one for one in results if one.verdict is not Verdict.NOT_RUN and (one.exposed or one.calls or one.wall_s > 0)]
    if interrupted:
        return Exit.INTERRUPTED
    if any(one.verdict is Verdict.HARNESS_ERROR for one in results):
        return Exit.HARNESS
    if not ran:
        return Exit.NOTHING_RAN
    if not any(one.verdict.judged for one in results):
        return Exit.UNJUDGED
    return Exit.REFUSED if refused else Exit.COMPLETED

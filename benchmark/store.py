"""A run's folder: ``run.json``, ``cells.jsonl``, ``history/<cell>.jsonl``, ``logs/``.

Lines are appended as cells end, so that a killed run loses at most the cells in flight: a history is written whole and
renamed before its cell's line is written, and a line is one write. What SIGKILL tore off the last line is dropped when
read, with a note.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self, TypeVar

import pydantic_core
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from benchmark import plainfile
from benchmark.cells import Cell
from benchmark.errors import HarnessError, UsageError, closest
from benchmark.history import Declaration, Event, History, Reading
from benchmark.results import SCHEMA_VERSION, CellResult, RunHeader, Verdict

__all__ = ["RunHeader", "Store"]


class Store:
    """One run's folder. ``create`` and ``resume`` lock it for writing; ``open`` only reads.

    ``notes`` tells what was dropped while reading.
    """

    def __init__(self, folder: Path, header: RunHeader, lock: _Lock | None = None) -> None:
        self.folder = folder
        self.header = header
        self.notes: list[str] = []
        self._lock = lock

    @classmethod
    def create(cls, folder: Path, header: RunHeader) -> Store:
        """A new run in ``folder``, which must not hold one yet; raises UsageError."""
        try:
            (folder / "history").mkdir(parents=True, exist_ok=True)
            (folder / "logs").mkdir(exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder}: cannot make the run's folder: {error.strerror}") from None
        lock = _Lock(folder)
        try:
            if (folder / "run.json").exists() or (folder / "cells.jsonl").exists():
                raise UsageError(
                    f"{folder}: holds a run already; go on with it with --resume {folder}, or choose another --out"
                )
            _replace(folder / "run.json", header.model_dump_json(indent=2) + "\n")
            (folder / "cells.jsonl").touch()
        except OSError as error:
            lock.release()
            raise UsageError(f"{folder}: cannot begin a run: {error.strerror}") from None
        except BaseException:
            lock.release()
            raise
        return cls(folder, header, lock)

    @classmethod
    def open(cls, folder: Path) -> Store:
        """The run in ``folder``, for reading; raises UsageError naming file and line."""
        return cls(folder, _read_header(folder))

    @classmethod
    def resume(cls, folder: Path) -> Store:
        """The run in ``folder``, to go on with: locked, and a torn last line cut off."""
        header = _read_header(folder)
        lock = _Lock(folder)
        store = cls(folder, header, lock)
        try:
            (folder / "history").mkdir(exist_ok=True)
            (folder / "logs").mkdir(exist_ok=True)
            store._cut_torn_line()
            for left in (folder / "history").glob("*.part"):
                left.unlink()
        except OSError as error:
            lock.release()
            raise UsageError(f"{folder}: cannot go on with this run: {error.strerror}") from None
        except BaseException:
            lock.release()
            raise
        return store

    @property
    def logs(self) -> Path:
        """Where processes write what no event holds."""
        return self.folder / "logs"

    def renew(self, header: RunHeader) -> None:
        """Write ``run.json`` anew, whole."""
        if self._lock is None:
            raise HarnessError(f"{self.folder}: opened for reading only")
        try:
            _replace(self.folder / "run.json", header.model_dump_json(indent=2) + "\n")
        except OSError as error:
            raise HarnessError(f"{self.folder}: cannot write run.json: {error.strerror}") from error
        self.header = header

    def append(self, result: CellResult, history: History | None) -> None:
        """Keep a finished cell: its history first (None: it has none), then its line, both on disk when this returns."""
        if self._lock is None:
            raise HarnessError(f"{self.folder}: opened for reading only")
        try:
            if history is not None:
                _replace(self._history_path(result.cell), "".join(_history_lines(history)))
            _append_line(self._cells, _line(result))
        except OSError as error:
            raise HarnessError(f"{self.folder}: cannot write a result: {error.strerror}") from error

    def results(self) -> tuple[CellResult, ...]:
        """The last line of every cell, in order of their first; raises UsageError naming file and line."""
        found: dict[str, CellResult] = {}
        for number, line in self._lines():
            result = _parse(CellResult, line, self._cells, number, _RUN_AGAIN)
            found[result.cell] = _named(result, self._cells, number)
        return tuple(found.values())

    def done(self) -> frozenset[str]:
        """Cells that a resumed run need not run again: all that have a line, but for harness errors and not-run."""
        again = (Verdict.HARNESS_ERROR, Verdict.NOT_RUN)
        return frozenset(result.cell for result in self.results() if result.verdict not in again)

    def history(self, cell: str) -> History:
        """The history of a cell; raises UsageError (with the closest name) where there is none, or naming file and line."""
        path = self._history_path(cell)
        if "/" in cell or not os.path.lexists(path):
            known = (name.stem for name in (self.folder / "history").glob("*.jsonl"))
            raise UsageError(f"{self.folder}: no history of a cell {cell!r}{closest(cell, known)}")
        lines = plainfile.content(path, None).removesuffix(b"\n").split(b"\n")
        if len(lines) < 2:
            raise UsageError(f"{path}:{len(lines)}: ends before the oracle's reading; {_REPLAY}")
        declaration = _parse(_First, lines[0], path, 1, _REPLAY).declaration
        if declaration.schema_version != SCHEMA_VERSION:
            raise UsageError(f"{path}:1: {other_schema(declaration.schema_version)}")
        return History(
            declaration=declaration,
            events=tuple(_parse(Event, line, path, number, _REPLAY) for number, line in enumerate(lines[1:-1], 2)),
            reading=_parse(_Last, lines[-1], path, len(lines), _REPLAY).reading,
        )

    def has_history(self, cell: str) -> bool:
        """Whether a history was kept (cells that never ran have none)."""
        return "/" not in cell and os.path.lexists(self._history_path(cell))

    def close(self) -> None:
        """Give the folder free for another run; safe to call twice."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def _cells(self) -> Path:
        return self.folder / "cells.jsonl"

    def _history_path(self, cell: str) -> Path:
        return self.folder / "history" / f"{cell}.jsonl"

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """The whole lines of ``cells.jsonl`` with their numbers."""
        if not os.path.lexists(self._cells):
            return
        whole, newline, torn = plainfile.content(self._cells, None).rpartition(b"\n")
        lines = whole.split(b"\n") if newline else []
        if torn:
            note = f"{self._cells}:{len(lines) + 1}: dropped a line that was torn off when its run was killed"
            if note not in self.notes:
                self.notes.append(note)
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line

    def _cut_torn_line(self) -> None:
        for _ in self._lines():
            pass
        if self._cells.exists():
            data = self._cells.read_bytes()
            os.truncate(self._cells, data.rfind(b"\n") + 1)


Model = TypeVar("Model", bound=BaseModel)


class _First(BaseModel):
    declaration: Declaration


class _Last(BaseModel):
    reading: Reading


def _history_lines(history: History) -> Iterator[str]:
    yield _line(_First(declaration=history.declaration))
    for event in history.events:
        yield _line(event, sparse=True)
    yield _line(_Last(reading=history.reading))


def _line(model: BaseModel, *, sparse: bool = False) -> str:
    """One line of JSON; half a surrogate pair, which a runtime may well send, becomes ``?``."""
    try:
        return model.model_dump_json(by_alias=True, exclude_none=sparse) + "\n"
    except PydanticSerializationError:
        plain = json.dumps(model.model_dump(by_alias=True, exclude_none=sparse), ensure_ascii=False, default=str)
        return plain.encode(errors="replace").decode() + "\n"


_RUN_AGAIN = "take the line out, and bench run --resume runs its cell again"
_REPLAY = "run the cell again with bench run --cell"


def _parse(model: type[Model], line: bytes | str, path: Path, number: int, remedy: str) -> Model:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        version = named_version(line)
        fault = _first_fault(error) if version in (None, SCHEMA_VERSION) else other_schema(version)
        raise UsageError(f"{path}:{number}: {fault}; {remedy}") from None


def named_version(line: bytes | str) -> object:
    """The schema version that a line names, whatever else is wrong with it; None: it names none."""
    try:
        found = pydantic_core.from_json(line)
    except ValueError:
        return None
    return found.get("schema_version") if isinstance(found, dict) else None


def other_schema(version: object) -> str:
    return f"schema version {str(version)[:40]}; this version of bench reads {SCHEMA_VERSION}"


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part)[:60] for part in fault["loc"])
    return f"{place}: {fault['msg']}" if place else str(fault["msg"])


def _named(result: CellResult, path: Path, number: int) -> CellResult:
    """The result, if its cell's name is one: it becomes a file's name."""
    if result.schema_version != SCHEMA_VERSION:
        raise UsageError(f"{path}:{number}: {other_schema(result.schema_version)}")
    try:
        Cell.parse(result.cell)
    except UsageError as error:
        raise UsageError(f"{path}:{number}: cell: {error}; {_RUN_AGAIN}") from None
    return result


def _read_header(folder: Path) -> RunHeader:
    path = folder / "run.json"
    if not plainfile.exists(path):
        raise UsageError(f"{folder}: holds no run (no run.json); `bench run` makes one")
    text = plainfile.text(path)
    version = plainfile.json_object(path, text).get("schema_version")
    if version != SCHEMA_VERSION:
        raise UsageError(f"{path}:1: {other_schema(version)}")
    header = _parse(RunHeader, text, path, 1, "begin a new run")
    for index, name in enumerate(header.cells):
        try:
            Cell.parse(name)
        except UsageError as error:
            raise UsageError(f"{path}:1: cells.{index}: {error}; begin a new run") from None
    return header


def _replace(path: Path, text: str) -> None:
    """Write a file whole: nobody ever sees half of it."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _append_line(path: Path, line: str) -> None:
    """One write of one line, on disk when this returns; where it cannot be written whole, nothing of it stays."""
    data = line.encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        before = os.fstat(descriptor).st_size
        try:
            if os.write(descriptor, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)


class _Lock:
    """One writer a folder. A record lock: gone with the process that holds it, and not inherited by its forked children."""

    _held: ClassVar[set[Path]] = set()

    def __init__(self, folder: Path) -> None:
        self._path = folder.resolve() / ".lock"
        if self._path in _Lock._held:  # a record lock does not keep out its own process
            raise UsageError(f"{folder}: another run writes this folder")
        self._descriptor: int | None = self._acquire(folder)
        _Lock._held.add(self._path)

    def _acquire(self, folder: Path) -> int:
        while True:
            try:
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except OSError as error:
                raise UsageError(f"{folder}: cannot be written: {error.strerror}") from None
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                raise UsageError(f"{folder}: another run writes this folder; wait for it, or choose another --out") from None
            try:
                if os.fstat(descriptor).st_ino == self._path.stat().st_ino:
                    return descriptor
            except FileNotFoundError:
                pass
            os.close(descriptor)  # its last holder removed the file between our open and our lock

    def release(self) -> None:
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None
            _Lock._held.discard(self._path)

"""The catalogue: every workload, tool adapter, provider, runtime and oracle that can be named, loaded and validated."""

from __future__ import annotations

import importlib.util
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from benchmark import lint
from benchmark.catalog import folders
from benchmark.catalog.declarations import Declaration
from benchmark.effects import Effect
from benchmark.entries import Provider, Runtime, ToolAdapter
from benchmark.errors import CatalogueError, UsageError, closest
from benchmark.intents import Workload
from benchmark.plan import Pair, Spine

M = TypeVar("M", bound=BaseModel)

Oracle = Callable[[Path], Sequence[Effect]]
"""``read(place)``: every effect in the provider's state at that place; raises OracleError."""


@dataclass(frozen=True)
class Placed(Generic[M]):
    """A catalogue entry: its value, and the declaration it was read from."""

    value: M
    declaration: Declaration

    @property
    def file(self) -> Path:
        return self.declaration.file

    @property
    def folder(self) -> Path:
        """The folder a program of this entry runs in."""
        return self.declaration.file.parent


@dataclass(frozen=True)
class Catalogue:
    """All entries by name. Workloads, adapters and providers are checked as a whole; runtimes one by one, when asked for."""

    roots: tuple[Path, ...]
    placed_workloads: Mapping[str, Placed[Workload]]
    placed_adapters: Mapping[str, Placed[ToolAdapter]]
    placed_providers: Mapping[str, Placed[Provider]]
    spine: tuple[Pair, ...]
    oracle_files: Mapping[str, Path]
    runtime_files: Mapping[str, Path]
    _oracles: dict[str, Oracle] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def workloads(self) -> dict[str, Workload]:
        return {name: placed.value for name, placed in self.placed_workloads.items()}

    @cached_property
    def adapters(self) -> dict[str, ToolAdapter]:
        return {name: placed.value for name, placed in self.placed_adapters.items()}

    @cached_property
    def providers(self) -> dict[str, Provider]:
        return {name: placed.value for name, placed in self.placed_providers.items()}

    @cached_property
    def runtimes(self) -> dict[str, Runtime]:
        """Every runtime by name; raises CatalogueError if one of them is wrong."""
        return {name: self.runtime(name).value for name in self.runtime_files}

    def workload(self, name: str) -> Placed[Workload]:
        return _named("workload", name, self.placed_workloads)

    def adapter(self, name: str) -> Placed[ToolAdapter]:
        return _named("tool adapter", name, self.placed_adapters)

    def provider(self, name: str) -> Placed[Provider]:
        return _named("provider", name, self.placed_providers)

    def provider_of(self, adapter: str) -> Placed[Provider]:
        """The provider behind a tool adapter."""
        return self.provider(self.adapter(adapter).value.provider)

    def runtime(self, name_or_path: str | Path) -> Placed[Runtime]:
        """A runtime by its name, or by the path of any folder that holds a ``runtime.toml``."""
        text = str(name_or_path)
        file = self.runtime_files.get(text)
        if file is None:
            folder = Path(text).expanduser()
            file = (folder if folder.name == "runtime.toml" else folder / "runtime.toml").resolve()
            if not file.is_file() and (folder.is_dir() or len(folder.parts) > 1):
                raise UsageError(f"runtime {text!r}: there is no file {file}; a runtime's folder holds a runtime.toml")
        if not file.is_file():
            raise _unknown("runtime", text, self.runtime_files)
        declaration = Declaration.read(file)
        runtime = declaration.into(Runtime, file.parent.name)
        for problem in lint.of_runtime(runtime):
            raise declaration.error(problem.keys, problem.message)
        return Placed(runtime, declaration)

    def oracle(self, name: str) -> Oracle:
        """The ``read`` function of ``oracles/<name>.py``."""
        if name not in self._oracles:
            self._oracles[name] = _read_function(_named("oracle", name, self.oracle_files))
        return self._oracles[name]

    def problems(self) -> Iterator[tuple[Placed[Any], lint.Problem]]:
        """Everything the lint has to say, advice included: each entry on its own, then what they are to each other."""
        for workload in self.placed_workloads.values():
            yield from ((workload, problem) for problem in lint.of_workload(workload.value))
        for adapter in self.placed_adapters.values():
            yield from ((adapter, problem) for problem in lint.of_adapter(adapter.value, self.providers))
        for provider in self.placed_providers.values():
            yield from ((provider, problem) for problem in lint.of_provider(provider.value, self.oracle_files))
        for workload in self.placed_workloads.values():
            yield from ((workload, problem) for problem in lint.of_tools(workload.value, self.adapters.values()))
        for adapter in self.placed_adapters.values():
            yield from ((adapter, problem) for problem in lint.of_service(adapter.value, self.workloads.values()))
            for name in self.workloads:
                yield from ((adapter, problem) for problem in lint.of_pair(self.workloads[name], adapter.value))
        for workload in self.placed_workloads.values():
            yield from ((workload, problem) for problem in lint.of_use(workload.value, self.adapters.values()))


def load(extra: Iterable[Path] = (), *, roots: Sequence[Path] | None = None) -> Catalogue:
    """The catalogue of the benchmark's own folders and the extra ones (or of exactly ``roots``); raises CatalogueError."""
    where = tuple(roots) if roots is not None else folders.roots(extra)
    workloads = _gather(Workload, _single(where, "workloads", ".toml"))
    adapters = _gather(ToolAdapter, _nested(where, "adapters/tools", "tool.toml"))
    providers = _gather(Provider, _nested(where, "adapters/providers", "provider.toml"))
    catalogue = Catalogue(
        roots=where,
        placed_workloads=workloads,
        placed_adapters=adapters,
        placed_providers=providers,
        spine=(),
        oracle_files=_unique("oracle", _single(where, "oracles", ".py")),
        runtime_files=_unique("runtime", _nested(where, "adapters/runtimes", "runtime.toml")),
    )
    for placed, problem in catalogue.problems():
        if problem.fatal:
            raise placed.declaration.error(problem.keys, problem.message)
    return replace(catalogue, spine=_spine(where, workloads, adapters))


def _single(roots: Sequence[Path], below: str, suffix: str) -> Iterator[tuple[str, Path]]:
    """(name, file) of the one-file entries; a leading underscore or dot marks what is none."""
    for root in roots:
        for file in sorted((root / below).glob(f"[!_.]*{suffix}")):
            yield file.stem, file


def _nested(roots: Sequence[Path], below: str, declaration: str) -> Iterator[tuple[str, Path]]:
    """(name, file) of the entries that are folders; a folder without its declaration is an error."""
    for root in roots:
        for folder in sorted((root / below).glob("[!_.]*/")):
            file = folder / declaration
            if file.is_file():
                yield folder.name, file
            elif any(each.name != "__pycache__" for each in folder.iterdir()):
                raise CatalogueError(f"{folder}:1: has no {declaration}; add one, or remove the folder")


def _unique(kind: str, found: Iterable[tuple[str, Path]]) -> dict[str, Path]:
    """Name → file; two of one name are an error, so that a company's entry never shadows another unnoticed."""
    files: dict[str, Path] = {}
    for name, file in found:
        if name in files:
            raise CatalogueError(f"{file}:1: name: the {kind} {name!r} exists already in {files[name]}; choose another name")
        files[name] = file
    return files


def _gather(model: type[M], found: Iterable[tuple[str, Path]]) -> dict[str, Placed[M]]:
    """Name → placed entry, by name."""
    placed = {}
    for name, file in sorted(_unique(model.__name__.lower(), found).items()):
        declaration = Declaration.read(file)
        placed[name] = Placed(declaration.into(model, name), declaration)
    return placed


def _spine(
    roots: Sequence[Path], workloads: Mapping[str, Placed[Workload]], adapters: Mapping[str, Placed[ToolAdapter]]
) -> tuple[Pair, ...]:
    """The pairs of every ``workloads/_spine.toml``, checked against the entries they name."""
    pairs: list[Pair] = []
    for file in (root / "workloads" / "_spine.toml" for root in roots):
        if not os.path.lexists(file):
            continue
        declaration = Declaration.read(file)
        for index, pair in enumerate(declaration.into(Spine, "_spine").pair):
            for kind, known in (("workload", workloads), ("adapter", adapters)):
                name = getattr(pair, kind)
                if name not in known:
                    raise declaration.error(("pair", index, kind), f"there is no {kind} {name!r}{closest(name, known)}")
            workload, adapter = workloads[pair.workload].value, adapters[pair.adapter].value
            for problem in lint.of_spine_pair(pair.kind, workload, adapter):
                raise declaration.error(("pair", index, *problem.keys), problem.message)
            pairs.append(pair)
    return tuple(pairs)


V = TypeVar("V")


def _named(kind: str, name: str, known: Mapping[str, V]) -> V:
    if name not in known:
        raise _unknown(kind, name, known)
    return known[name]


def _unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    names = sorted(known)
    return UsageError(f"there is no {kind} {name!r}{closest(name, names) or '; known: ' + (', '.join(names) or 'none')}")


def _read_function(file: Path) -> Oracle:
    """Loads an oracle from its file, under a name of its own: nothing of the catalogue is ever imported by name."""
    spec = importlib.util.spec_from_file_location(f"oracle_{file.stem.replace('-', '_')}", file)
    if spec is None or spec.loader is None:
        raise CatalogueError(f"{file}:1: is no Python file that can be loaded")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise CatalogueError(f"{file}:{error.lineno or 1}: {error.msg}") from None
    except (Exception, SystemExit) as error:
        raise CatalogueError(f"{file}:{_line_in(file, error)}: cannot be loaded: {type(error).__name__}: {error}") from error
    read = getattr(module, "read", None)
    if not callable(read):
        raise CatalogueError(f"{file}:1: read: is missing; an oracle defines read(place) that lists effects")
    return read  # type: ignore[no-any-return]


def _line_in(file: Path, error: BaseException) -> int:
    """The line of the file at which the exception was raised, or passed through last."""
    lines = [frame.lineno or 1 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return lines[-1] if lines else 1

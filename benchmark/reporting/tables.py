"""CSV and Parquet through pandas: a row for each cell, with what its run was in the first columns."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from typing import Any

from benchmark.errors import UsageError
from benchmark.reporting.untrusted import plain
from benchmark.results import CellResult
from benchmark.scoring.claims import Part
from benchmark.summary import Summary

LONGEST = 32_000
"""Characters of one field: spreadsheets hold 32,767."""

STAGES = ("intents", "model_requests", "calls", "upstream_requests", "effects")
"""Stages of the funnel."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a text for a formula."""


def csv(run: Summary, results: Iterable[CellResult]) -> bytes:
    """UTF-8 with a head line; a text that a spreadsheet would execute begins with an apostrophe."""
    frame = _frame(run, results)
    for name in frame.columns:
        if frame[name].dtype == "string":
            frame[name] = frame[name].map(_inert)
    return bytes(frame.to_csv(index=False, lineterminator="\n").encode())


def parquet(run: Summary, results: Iterable[CellResult]) -> bytes:
    """One row group; needs pyarrow. Raises UsageError where it is not installed."""
    try:
        import pyarrow  # type: ignore[import-untyped]  # noqa: F401
    except ModuleNotFoundError:
        raise UsageError("Parquet needs pyarrow: pip install 'declared-effect-bench[parquet]'") from None
    made = BytesIO()
    _frame(run, results).to_parquet(made, engine="pyarrow", index=False)
    return made.getvalue()


def _frame(run: Summary, results: Iterable[CellResult]) -> Any:
    """A DataFrame whose columns and types do not depend on what is in it."""
    import pandas as pd  # type: ignore[import-untyped]

    head = {"run": run.header.run, "started": run.header.started, "suite_hash": run.header.suite_hash}
    types = {**dict.fromkeys(head, "string"), **_types()}
    frame = pd.DataFrame(({**head, **_row(result)} for result in results), columns=list(types))
    return frame.astype(types)


def _types() -> dict[str, str]:
    """Column → type, in order."""
    plainly: dict[object, str] = {int: "int64", bool: "bool", float: "float64", float | None: "Float64"}
    fields = {name: field.annotation for name, field in CellResult.model_fields.items()}
    told = {name: plainly.get(kind, "string") for name, kind in fields.items() if name not in ("claims", "funnel")}
    counts = [*(_claim(part) for part in Part), *(f"funnel_{stage}" for stage in STAGES)]
    return {**told, **dict.fromkeys(counts, "int64")}


def _row(result: CellResult) -> dict[str, Any]:
    told = result.model_dump(mode="python", exclude={"claims", "funnel"})
    told["rerun_reasons"] = "; ".join(result.rerun_reasons)
    told["blame"] = result.blame or ""
    told |= {_claim(part): result.claims.get(part, 0) for part in Part}
    told |= {f"funnel_{stage}": result.funnel.get(stage, 0) for stage in STAGES}
    return {name: plain(value, LONGEST) if isinstance(value, str) else value for name, value in told.items()}


def _claim(part: Part) -> str:
    return f"claims_{part.replace('-', '_')}"


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) and text != "-" else text

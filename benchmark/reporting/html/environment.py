"""The templates: everything autoescaped, undefined names are errors."""

from __future__ import annotations

from functools import cache
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from benchmark.reporting.untrusted import fields, plain, value


@cache
def environment() -> Environment:
    """The environment of all pages; ``told`` makes harmless what a runtime, tool server or provider wrote."""
    made = Environment(
        loader=PackageLoader("benchmark.reporting.html"),
        autoescape=select_autoescape(enabled_extensions=("j2",), default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(told=plain, json=value, fields=fields, number=_number, seconds=_seconds, size=_size, anchor=_anchor)
    return made


def _number(count: float) -> str:
    return f"{count:,}" if isinstance(count, int) else f"{count:,.1f}"


def _seconds(span: float | None) -> str:
    if span is None:
        return "–"
    return f"{span * 1000:.0f} ms" if abs(span) < 1 else f"{span:.1f} s"


def _size(count: float | None) -> str:
    if count is None:
        return "–"
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _anchor(text: str) -> str:
    """Percent-encoded for a fragment's parameters or a file's name."""
    return quote(text, safe="")

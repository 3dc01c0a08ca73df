"""Oracle of a CalDAV server: reads the .ics files of one calendar's folder, as RFC 5545 writes them."""

from __future__ import annotations

import pathlib
import re

from benchmark.effects import Effect
from benchmark.errors import OracleError

_FIELDS = {"DTSTART": "slot", "SUMMARY": "attendee", "DESCRIPTION": "note"}


def read(place: pathlib.Path) -> list[Effect]:
    """Every event in the folder ``place``, by the names of their files, which are their receipts.

    Names that begin with a dot are the server's own. Raises OracleError where the state cannot be read: no folder, a damaged
    file.
    """
    if not place.is_dir():
        raise OracleError(f"{place}: no folder there")
    try:
        return [_event(path) for path in sorted(place.iterdir()) if not path.name.startswith(".")]
    except (OSError, ValueError) as error:
        raise OracleError(f"{place}: cannot be read: {error!r}") from error


def _event(path: pathlib.Path) -> Effect:
    """The one event of a file."""
    fields: dict[str, str | None] = {"slot": None, "attendee": None, "note": None}
    inside = ended = 0
    # A folded line goes on after a line break and one blank.
    for line in re.sub(r"\r?\n[ \t]", "", path.read_bytes().decode()).splitlines():
        name, _, value = line.partition(":")
        inside += line == "BEGIN:VEVENT"
        ended += line == "END:VEVENT"
        known = _FIELDS.get(name.split(";", 1)[0].upper())
        if known is not None and inside > ended:
            fields[known] = _text(value)
    if (inside, ended) != (1, 1) or fields["slot"] is None:
        raise ValueError(f"{path.name}: is no calendar file with one event")
    return Effect.model_validate({"class": "booking", "receipt": path.name, "fields": fields})


def _text(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] in "nN" else found[1], value)

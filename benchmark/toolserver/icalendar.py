"""One event as an iCalendar file (RFC 5545): written, and one property of it read. Pure."""

from __future__ import annotations

import re

LONGEST = 60
"""Characters a line; the standard allows 75 octets, and one character may take several."""


def event(uid: str, start: str, summary: str, description: str | None) -> str:
    """A calendar with one event of half an hour; ``start``: in UTC, as 20270105T090000Z."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Declared-Effect Bench//EN",
        "BEGIN:VEVENT",
        f"UID:{_escaped(uid)}",
        f"DTSTAMP:{start}",
        f"DTSTART:{start}",
        "DURATION:PT30M",
        f"SUMMARY:{_escaped(summary)}",
        *([] if description is None else [f"DESCRIPTION:{_escaped(description)}"]),
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def property_of(text: str, name: str) -> str | None:
    """The value of the first property of this name, unescaped; None: there is none."""
    whole = re.sub(r"\r?\n[ \t]", "", text)
    found = re.search(rf"^{name}(?:;[^:\r\n]*)?:(.*?)\r?$", whole, re.MULTILINE)
    return None if found is None else re.sub(r"\\(.)", lambda each: "\n" if each[1] in "nN" else each[1], found[1])


def _escaped(text: str) -> str:
    return re.sub(r"([\\;,])", r"\\\1", text).replace("\n", "\\n")


def _folded(line: str) -> str:
    return "\r\n ".join(line[at : at + LONGEST] for at in range(0, len(line), LONGEST))

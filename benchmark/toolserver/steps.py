"""From a checked call to the upstream requests that it makes: one step per effect. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from pydantic import Field

from benchmark.contracts import Contract, Frozen
from benchmark.entries import Tool
from benchmark.toolserver.arguments import Invalid, relative

Json = dict[str, Any]


class Serving(Frozen):
    """``[tools.X.serving]``: which upstream request a tool makes."""

    method: Literal["GET", "POST", "PUT"] = "POST"
    path: str = Field(default="", description="Path of the API; {argument} is filled in.")
    effect_class: str = Field(default="", alias="class", description="For the gate: the class of the effect.")
    body: tuple[str, ...] = Field(
        default=(), description="Arguments that go into the body (GET: the query) under the same name."
    )
    each_as: str | None = Field(default=None, description="Several effects: the body's field for the item.")
    factors: dict[str, tuple[int, ...]] = Field(
        default_factory=dict, description="Several effects: numbers by which an argument is multiplied, one per item."
    )
    headers: dict[str, str] = Field(default_factory=dict, description="Headers sent with every request.")
    key_header: str | None = Field(default=None, description="The header in which the caller's key goes upstream.")
    listed: dict[str, str] = Field(
        default_factory=dict, description="Look-up: upstream field → list argument it is an item of."
    )


class Lost(Exception):
    """The upstream answer did not come, or proves nothing: the effect may have happened."""


@dataclass(frozen=True)
class Reply:
    """An upstream answer: HTTP status and JSON body; ``text``: the body as it came."""

    status: int
    body: Json
    text: str = ""


@dataclass(frozen=True)
class Step:
    """One upstream request. ``key``: the caller's key for this effect, whether it is sent or not."""

    method: str
    path: str
    body: Json
    effect_class: str = ""
    key: str | None = None
    key_header: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    binding: tuple[str, ...] = ()
    """Fields of the body whose change makes it another effect."""
    content: str | None = None
    """What is sent in place of the body as JSON, for a provider that speaks something else."""

    @property
    def bound(self) -> str:
        """The binding fields as text, equal for equal values."""
        return json.dumps({name: self.body.get(name) for name in self.binding}, sort_keys=True)

    def all_headers(self) -> dict[str, str]:
        """Everything but what HTTP itself needs."""
        headers = dict(self.headers)
        if self.key is not None and self.key_header is not None:
            headers[self.key_header] = self.key
        if self.binding:
            headers["Idempotency-Binding"] = ",".join(self.binding)
        return headers


Send = Callable[[Step], Reply]
"""Makes the request; raises Lost."""

Around = Callable[[Step, Send], Reply]
"""Stands around each request; raises Lost."""


@dataclass(frozen=True)
class Made:
    """What a mutation of files did. ``changed``: false where everything was so already."""

    receipt: str
    changed: bool = True


Prepare = Callable[[Path, Json], Callable[[], Made]]
"""Checks the fields (raises Invalid) and returns the mutation."""


def plan(tool: Tool, serving: Serving, arguments: Json, key: str | None) -> tuple[Step, ...]:
    """The upstream requests of a call, in order; raises Invalid."""
    contract = tool.contract
    path = serving.path.format_map({name: quote(str(relative(value))) for name, value in _placeholders(serving, arguments)})
    fields = {name: arguments[name] for name in serving.body if name in arguments}
    reference = arguments.get(contract.reference) if contract is not None and contract.reference is not None else None
    several = contract.effects if contract is not None else None
    if several is None:
        return (_step(serving, contract, path, fields, key, reference),)
    if several.together:
        fields = {**fields, several.each: arguments[several.each]}
        return (_step(serving, contract, path, fields, key, reference),)
    items = arguments[several.each]
    for name, factors in serving.factors.items():
        if len(items) != len(factors):
            raise Invalid(f"the argument {several.each!r} must have {len(factors)} items, because of {name!r}")
    steps = []
    for index, item in enumerate(items):
        own = {serving.each_as or several.each: item, **fields}
        own |= {name: factors[index] * own[name] for name, factors in serving.factors.items()}
        steps.append(_step(serving, contract, path, own, _nth(key, index), _nth(reference, index)))
    return tuple(steps)


def _placeholders(serving: Serving, arguments: Json) -> list[tuple[str, str]]:
    return [(name, value) for name, value in arguments.items() if "{" + name + "}" in serving.path]


def _nth(text: str | None, index: int) -> str | None:
    return None if text is None else f"{text}/{index}"


def _step(
    serving: Serving, contract: Contract | None, path: str, fields: Json, key: str | None, reference: str | None
) -> Step:
    body = fields if reference is None else {**fields, "reference": reference}
    return Step(
        method=serving.method,
        path=path,
        body=body,
        effect_class=serving.effect_class,
        key=key,
        key_header=serving.key_header,
        headers=serving.headers,
        binding=_binding(serving, contract),
    )


def _binding(serving: Serving, contract: Contract | None) -> tuple[str, ...]:
    """The binding arguments under their upstream names; none where nothing compares them."""
    if contract is None or (contract.key is None and contract.natural_key is None):
        return ()
    if contract.effects is not None and contract.effects.together:
        return contract.binding
    each = contract.effects.each if contract.effects is not None else None
    names = ((serving.each_as or name) if name == each else name for name in contract.binding)
    return tuple(name for name in names if name in serving.body or name == serving.each_as)

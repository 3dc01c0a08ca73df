"""What tool adapters, providers and runtimes must keep on their own."""

from __future__ import annotations

import re
from collections.abc import Collection

from benchmark.boundaries import Boundary
from benchmark.contracts import Contract
from benchmark.entries import Provider, Runtime, Tool, ToolAdapter
from benchmark.errors import closest
from benchmark.lint.problems import Problem, Problems, blank, slug

_TYPES = ("string", "integer", "number", "boolean", "string[]")


def of_adapter(adapter: ToolAdapter, providers: Collection[str]) -> Problems:
    """Everything a tool adapter can get wrong on its own."""
    yield from slug(adapter.name)
    yield from blank({("title",): adapter.title, ("summary",): adapter.summary})
    yield from blank({("tools", name, "description"): tool.description for name, tool in adapter.tools.items()})
    if adapter.provider not in providers:
        yield Problem(("provider",), f"there is no provider {adapter.provider!r}{closest(adapter.provider, providers)}")
    for name, tool in adapter.tools.items():
        for argument, kind in tool.arguments.items():
            if kind.removesuffix("?") not in _TYPES:
                yield Problem(
                    ("tools", name, "arguments", argument),
                    f"{kind!r} is no type; use one of {', '.join(_TYPES)}, with a trailing ? if optional",
                )
        if tool.contract is not None:
            for problem in _of_contract(adapter, tool, tool.contract):
                yield Problem(("tools", name, "contract", *problem.keys), problem.message, problem.fatal)


def _of_contract(adapter: ToolAdapter, tool: Tool, contract: Contract) -> Problems:
    optional = {name for name, kind in tool.arguments.items() if kind.endswith("?")}
    named: list[tuple[tuple[str | int, ...], str]] = [(("binding", i), name) for i, name in enumerate(contract.binding)]
    named += [(("natural_key", i), name) for i, name in enumerate(contract.natural_key or ())]
    named += [(("reference",), contract.reference)] if contract.reference else []
    named += [(("effects", "each"), contract.effects.each)] if contract.effects else []
    named += [(("key", "name"), contract.key.name)] if contract.key and contract.key.carrier == "argument" else []
    for keys, name in named:
        if name not in tool.arguments:
            yield Problem(keys, f"the tool has no argument {name!r}{closest(name, tool.arguments)}")
        elif keys[0] in ("key", "reference") and name not in optional:
            yield Problem(keys, f"the argument {name!r} must be optional; a key or reference is never required")
        elif keys[0] in ("key", "reference") and name in contract.binding:
            yield Problem(keys, f"{name!r} is in binding; a key or reference says which effect, it is no part of it")
    if contract.natural_key and not set(contract.natural_key) <= set(contract.binding):
        yield Problem(("natural_key",), "has an argument that is not in binding; another object is another effect")
    if (contract.natural_key is None) != (contract.on_repeat is None):
        yield Problem(("on_repeat",), "goes with a natural_key, and only with one: overwrite or refuse")
    for name, answer in contract.answers:
        if answer is not None and not answer[0].startswith("/"):
            yield Problem(("answers", name, 0), f"{answer[0]!r} is no JSON pointer; it begins with /")
    if contract.effects and not tool.arguments.get(contract.effects.each, "string[]").startswith("string[]"):
        yield Problem(("effects", "each"), f"the argument {contract.effects.each!r} is no list")
    yield from _of_lookup(adapter, contract)


def _of_lookup(adapter: ToolAdapter, contract: Contract) -> Problems:
    if contract.lookup is None:
        return
    found = adapter.tools.get(contract.lookup.tool)
    if found is None:
        remedy = closest(contract.lookup.tool, adapter.tools)
        yield Problem(("lookup", "tool"), f"the adapter has no tool {contract.lookup.tool!r}{remedy}")
    elif found.contract is not None:
        yield Problem(("lookup", "tool"), f"{contract.lookup.tool!r} has a contract; a look-up only reads")
    else:
        for index, name in enumerate(contract.lookup.by):
            if name not in found.arguments:
                remedy = closest(name, found.arguments)
                yield Problem(("lookup", "by", index), f"{contract.lookup.tool!r} has no argument {name!r}{remedy}")


def of_provider(provider: Provider, oracles: Collection[str]) -> Problems:
    """Everything a provider can get wrong on its own."""
    yield from slug(provider.name)
    yield from blank({("title",): provider.title, ("summary",): provider.summary})
    if provider.oracle not in oracles:
        yield Problem(("oracle",), f"there is no oracle {provider.oracle!r}{closest(provider.oracle, oracles)}")
    if provider.kind == "http":
        if provider.command is None:
            yield Problem(("command",), "is missing; an http provider says how it is started")
        if not provider.commit:
            yield Problem(("commit",), "is missing; an http provider says which exchange is a commit")
    for index, rule in enumerate(provider.commit):
        groups: Collection[str] = ()
        try:
            groups = re.compile(rule.path).groupindex
        except re.error as error:
            yield Problem(("commit", index, "path"), f"is no regular expression: {error}")
        for name in ("receipt", "unless"):
            pointer = rule.receipt if name == "receipt" else rule.unless[0] if rule.unless else "/"
            if not pointer.startswith("/") and not (name == "receipt" and pointer in groups):
                yield Problem(("commit", index, name), f"{pointer!r} is no JSON pointer; it begins with /")


def of_runtime(runtime: Runtime) -> Problems:
    """Everything a runtime can get wrong beyond its types."""
    yield from slug(runtime.name)
    yield from blank({("title",): runtime.title})
    yield from blank({("promise", index, "source"): promise.source for index, promise in enumerate(runtime.promise)})
    known = [str(boundary) for boundary in Boundary]
    promised: set[str] = set()
    for index, promise in enumerate(runtime.promise):
        for boundary in promise.boundaries:
            place = ("promise", index, "boundary")
            if boundary not in known:
                yield Problem(place, f"there is no boundary {boundary!r}{closest(boundary, known)}")
            elif boundary in promised:
                yield Problem(place, f"{boundary!r} has a promise already; one word for each boundary")
            promised.add(boundary)
        if not promise.boundaries:
            yield Problem(("promise", index, "boundary"), "is empty; name the boundaries of which the documents speak")
    yield from _housing(runtime)
    for name in ("transports", "protocols"):
        if not getattr(runtime.capabilities, name):
            yield Problem(("capabilities", name), "is empty, so that no cell could run; name at least one")


def _housing(runtime: Runtime) -> Problems:
    """The environment and the services that a runtime declares."""
    environment = runtime.environment
    if environment is not None and not (environment.python or environment.node):
        yield Problem(("environment",), 'is empty; name the file that pins it: python = "requirements.txt", or node')
    names = [service.name for service in runtime.service]
    for index, service in enumerate(runtime.service):
        if service.name in names[:index]:
            yield Problem(
                ("service", index, "name"), f"is {service.name!r} a second time; give each service a name of its own"
            )
        if service.ready != "tcp" and not service.ready.startswith("/"):
            yield Problem(("service", index, "ready"), f"is {service.ready!r}, must be 'tcp' or a path that begins with /")
        texts = (*service.command, *service.environment.values())
        if not any("{port" in text for text in texts):
            yield Problem(("service", index, "command"), "has no {port}, so that nobody could reach it")
    if environment is None:
        parts = [*runtime.command, *(part for service in runtime.service for part in service.command)]
        if any("{env}" in part for part in parts):
            yield Problem(("command",), "names {env}, but there is no [environment]; add one")

"""What a workload and a tool adapter must keep together: tools, arguments, effects, and the pairs of the spine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from benchmark.contracts import ContractKind
from benchmark.entries import Tool, ToolAdapter
from benchmark.errors import closest
from benchmark.intents import Call, Intent, Workload
from benchmark.lint.problems import Problem, Problems


def of_tools(workload: Workload, adapters: Iterable[ToolAdapter]) -> Problems:
    """A workload whose tools no adapter has all together can never run."""
    known = list(adapters)
    if any(set(workload.tools) <= adapter.tools.keys() for adapter in known):
        return
    names = {name for adapter in known for name in adapter.tools}
    for first, second, _, call in _calls(workload):
        if call.tool not in names:
            keys = ("intents", first, "calls", second, "tool")
            yield Problem(keys, f"no adapter has the tool {call.tool!r}{closest(call.tool, names)}")
            return
    yield Problem(("intents",), f"no adapter has the tools {', '.join(workload.tools)} together; add one that has")


def of_use(workload: Workload, adapters: Iterable[ToolAdapter]) -> Problems:
    """A workload that fits none of the adapters that have its tools can never run."""
    reasons = []
    for adapter in adapters:
        if runs(workload, adapter):
            return
        reasons += [(adapter.name, problem) for problem in misfits(workload, adapter)]
    for name, problem in reasons[:1]:
        where = ".".join(str(key) for key in problem.keys)
        yield Problem(("intents",), f"no adapter fits; of {name}, {where} {problem.message}")


def of_service(adapter: ToolAdapter, workloads: Iterable[Workload]) -> Problems:
    """An adapter that no workload fits can never be run."""
    known = list(workloads)
    if any(runs(workload, adapter) for workload in known):
        return
    problem = next((problem for workload in known for problem in misfits(workload, adapter)), None)
    if problem is not None:
        yield Problem(problem.keys, f"no workload fits: {problem.message}")
    else:
        needed = {tool for workload in known for tool in workload.tools}
        remedy = next((remedy for tool in adapter.tools if (remedy := closest(tool, needed))), "; add one that needs them")
        yield Problem(("tools",), f"no workload does with the tools {', '.join(adapter.tools)}{remedy}")


def runs(workload: Workload, adapter: ToolAdapter) -> bool:
    """Whether the workload can run on the adapter: it has all the tools, and they take the calls and make the effects."""
    return set(workload.tools) <= adapter.tools.keys() and next(misfits(workload, adapter), None) is None


def of_pair(workload: Workload, adapter: ToolAdapter) -> Problems:
    """Why a workload does not run, or not wholly, on an adapter that has its tools: advice, they may be namesakes."""
    yield from misfits(workload, adapter)
    if runs(workload, adapter):
        yield from _drift_fits(workload, adapter)


def misfits(workload: Workload, adapter: ToolAdapter) -> Problems:
    """What in the adapter's tools does not fit the workload's calls; silent where the adapter lacks one of them."""
    if not set(workload.tools) <= adapter.tools.keys():
        return
    for _, index, intent, call in _calls(workload):
        tool, keys = adapter.tools[call.tool], ("tools", call.tool)
        for problem in _arguments(workload, call, tool):
            yield Problem((*keys, *problem.keys), problem.message, fatal=False)
        slots = [slot for slot in intent.slots if slot.call == index]
        if (tool.contract is None) != (not slots):
            said = (
                f"only reads, but {workload.name!r} declares an" if slots else f"mutates, but {workload.name!r} declares no"
            )
            yield Problem((*keys, "contract"), f"the tool {said} effect of it", fatal=False)
        elif tool.contract is not None:
            items = call.arguments.get(tool.contract.effects.each, []) if tool.contract.effects else [None]
            if len(items) != len(slots):
                message = f"makes {len(items)} effects of the call in {workload.name!r}, which declares {len(slots)}"
                yield Problem((*keys, "contract", "effects"), message, fatal=False)


def _calls(workload: Workload) -> Iterator[tuple[int, int, Intent, Call]]:
    for first, intent in enumerate(workload.intents):
        for second, call in enumerate(intent.calls):
            yield first, second, intent, call


def _arguments(workload: Workload, call: Call, tool: Tool) -> Problems:
    for name, value in call.arguments.items():
        if name not in tool.arguments:
            remedy = closest(name, tool.arguments)
            yield Problem(("arguments",), f"lacks the argument {name!r} of the call in {workload.name!r}{remedy}")
        elif not fits(tool.arguments[name], value):
            kind = tool.arguments[name]
            yield Problem(
                ("arguments", name), f"is {kind!r}, which the value {value!r} of the call in {workload.name!r} does not fit"
            )
    for name, kind in tool.arguments.items():
        if not kind.endswith("?") and name not in call.arguments:
            yield Problem(
                ("arguments", name), f"is required, but the call in {workload.name!r} does not give it; append a ?"
            )


def fits(kind: str, value: Any) -> bool:
    """Whether a JSON value is of a declared argument type (``string?``, ``integer``, ``string[]`` …)."""
    match kind.removesuffix("?"):
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "string[]":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case _:
            return False


def _drift_fits(workload: Workload, adapter: ToolAdapter) -> Problems:
    """Advice only: a contract may bind more or less, then that variant of repair-drift is not applicable."""
    call = workload.declared_calls[0][2]
    contract = adapter.tools[call.tool].contract
    if workload.drift is None or contract is None:
        return
    keys = ("tools", call.tool, "contract", "binding")
    if workload.drift.binding.argument not in contract.binding:
        message = f"lacks {workload.drift.binding.argument!r}, which the binding drift of {workload.name!r} changes"
        yield Problem(keys, message, fatal=False)
    identity = {contract.reference, contract.key.name if contract.key else None}
    everything = set(contract.binding) == adapter.tools[call.tool].arguments.keys() - identity
    if workload.drift.free.argument in contract.binding and not everything:  # all of them: that is what it is for
        message = f"holds {workload.drift.free.argument!r}, which the free drift of {workload.name!r} changes"
        yield Problem(keys, message, fatal=False)


def of_spine_pair(kind: ContractKind, workload: Workload, adapter: ToolAdapter) -> Problems:
    """A pair of the spine can run, and stands for the contract kind it says."""
    lacking = [tool for tool in workload.tools if tool not in adapter.tools]
    if lacking:
        yield Problem(("adapter",), f"{adapter.name!r} lacks the tool {lacking[0]!r} of the workload {workload.name!r}")
    elif problem := next(misfits(workload, adapter), None):
        yield Problem(("adapter",), f"{adapter.name!r} does not fit: {problem.message}")
    elif adapter.kind(workload.tools) is not kind:
        yield Problem(("kind",), f"is {str(kind)!r}, but the contract is of the kind {str(adapter.kind(workload.tools))!r}")

"""The types of the catalogue's TOML files: tool adapters, providers, runtimes (workloads: ``benchmark.intents``)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from benchmark.contracts import Contract, ContractKind, Frozen, Text

Command = Annotated[tuple[Text, ...], Field(min_length=1)]
"""A program and its arguments."""

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "MKCOL", "MKCALENDAR"]

Status = Annotated[int, Field(ge=100, le=599)]


class Tool(Frozen):
    """One MCP tool of an adapter."""

    description: str
    arguments: dict[str, str] = Field(
        description="Argument → type: string, integer, number, boolean, string[]; a trailing ? makes it optional."
    )
    contract: Contract | None = Field(default=None, description="None: the tool only reads.")
    serving: dict[str, Any] = Field(
        default_factory=dict, description="For the tool server's own use; the engine does not look."
    )


class ToolAdapter(Frozen):
    """``adapters/tools/<name>/tool.toml``: an MCP tool server in front of a provider, with its declared contracts."""

    name: str
    title: str
    summary: str
    truthful: bool = True
    provider: str
    command: Command
    preload: bool = Field(default=False, description="A Python program that may be forked from the warm interpreter.")
    on_cancel: Literal["finish", "abort"] = "finish"
    http_answers: Literal["sse", "json"] = "sse"
    tools: dict[str, Tool]

    def contracts(self, tools: tuple[str, ...]) -> dict[str, Contract]:
        """Contracts of these tools (readers left out)."""
        found = {name: self.tools[name].contract for name in tools if name in self.tools}
        return {name: contract for name, contract in found.items() if contract is not None}

    def kind(self, tools: tuple[str, ...]) -> ContractKind:
        """The contract kind of the first mutating tool among these; NONE for readers."""
        return next((contract.kind for contract in self.contracts(tools).values()), ContractKind.NONE)

    @property
    def strong(self) -> bool:
        """Strong by what it declares: a key or a natural key on every mutating tool."""
        contracts = self.contracts(tuple(self.tools))
        return all(contract.kind in (ContractKind.KEY, ContractKind.NATURAL_KEY) for contract in contracts.values())


class CommitRule(Frozen):
    """Which exchange with the provider is a commit, and how to read its receipts."""

    effect_class: Text = Field(alias="class")
    method: Method
    path: str = Field(description="Regular expression for the whole path below the namespace.")
    status: tuple[Status, ...] = (200, 201)
    unless: tuple[str, Any] | None = Field(
        default=None, description="A JSON pointer into the answer's body and the value that marks a replay: not a commit."
    )
    receipt: str = Field(
        description="JSON pointer to it, or to a list of them, in the answer's body; "
        "or the name of a group of ``path`` (answers without a body)."
    )


class NotExecuted(Frozen):
    """The provider's proof that nothing was executed (manifestation ``refused``)."""

    status: Status
    body: dict[str, Any]


class Request(Frozen):
    """One HTTP request that the conductor makes; ``{…}`` in strings is filled in."""

    method: Method
    path: str
    body: dict[str, Any] | None = None


class Needs(Frozen):
    """What must be installed; without it, cells are ``not-run``."""

    module: str = Field(description="A Python module that the benchmark's own interpreter can find.")
    install: str = Field(description="The command that installs it.")


class Provider(Frozen):
    """``adapters/providers/<name>/provider.toml``."""

    name: str
    title: str
    summary: str
    kind: Literal["http", "files"]
    oracle: str = Field(description="Name of the oracle (``oracles/<name>.py``) that reads its state.")
    command: Command | None = Field(default=None, description="http: how to start it; {port}, {scratch}, {python}.")
    preload: bool = Field(default=False, description="http: a Python program that may be forked from the warm interpreter.")
    ready: str = Field(default="tcp", description="tcp, or a path that answers 2xx.")
    namespace: Request | None = Field(
        default=None, description="http: makes a namespace; {namespace}, {place}, {retention_s}."
    )
    drop: Request | None = Field(default=None, description="http: ends a namespace.")
    prefix: str = Field(default="/{namespace}", description="http: path prefix of a namespace's API.")
    place: str = Field(
        default="{scratch}",
        description="What the oracle is given: a path below the cell's scratch folder, or below {shared}, the command's "
        "{scratch}; {namespace}.",
    )
    needs: Needs | None = None
    commit: tuple[CommitRule, ...] = ()
    not_executed: NotExecuted | None = None
    state_like: tuple[str, ...] = ()


class Environment(Frozen):
    """A runtime's own environment; absent: the benchmark's own interpreter."""

    python: str | None = None
    node: str | None = None


class Capabilities(Frozen):
    """What a runtime can do."""

    model: bool = False
    resumes: bool = False
    transports: tuple[Literal["stdio", "http"], ...] = ("stdio", "http")
    protocols: tuple[Literal["2025-11-25", "2026-07-28"], ...] = ("2025-11-25", "2026-07-28")
    contracts: bool = False
    preload: bool = False
    input: bool = Field(
        default=False,
        description="Answers a tool server that asks for input (elicitation) in its user's name, and sends the call again.",
    )
    lease_s: float | None = Field(
        default=None,
        gt=0,
        description="Seconds for which one incarnation holds its own lease on a workflow; null: no lease.",
    )


class Timeouts(Frozen):
    """Seconds. ``connect_s`` and ``tool_call_s`` only where the runtime's own defaults cannot be changed."""

    run_s: float = Field(default=30.0, gt=0)
    connect_s: float | None = Field(default=None, gt=0)
    tool_call_s: float | None = Field(default=None, gt=0)


class Versions(Frozen):
    """Distributions whose versions are recorded with every result."""

    track: tuple[str, ...] = ()


Says = Literal["exactly-once", "at-most-once", "at-least-once", "sent-once", "may-repeat", "nothing"]
"""The words of a promise; ``sent-once``: whatever asks it to call again, the runtime itself sends a call once."""


class Promise(Frozen):
    """What a runtime's own documents promise at a boundary, or at several."""

    boundary: str | tuple[str, ...]
    says: Says
    source: str = Field(
        description="The page, or the package's file with its version, that says so; in brackets, what it says."
    )

    @property
    def boundaries(self) -> tuple[str, ...]:
        """Where it is promised."""
        return (self.boundary,) if isinstance(self.boundary, str) else self.boundary


class Service(Frozen):
    """A server that a runtime needs; it is no part of the runtime, and survives its kills."""

    name: str = Field(default="main", pattern=r"^[a-z0-9-]+$", description="Its name in the task file.")
    command: Command = Field(
        description="{env}, {python}, {node}; {state}, a folder of its own; {port} or {port.NAME}, free loopback ports. "
        "It stays in the foreground."
    )
    ready: str = Field(default="tcp", description="tcp, or an HTTP path that answers 2xx, on the first port.")
    environment: dict[str, str] = Field(default_factory=dict, description="Variables, with the same placeholders.")
    shared: bool = Field(default=False, description="One for the whole sweep instead of one for each cell.")


class Setting(Frozen):
    """A setting that deviates from the runtime's defaults."""

    name: str
    value: str
    default: str
    why: str


class Runtime(Frozen):
    """``runtime.toml`` of the runtime contract, version 1."""

    name: str
    title: str
    kind: Literal["baseline", "mcp-client", "agent-framework", "durable-engine", "retry-middleware", "gateway"]
    command: Command
    homepage: str = ""
    environment: Environment | None = None
    capabilities: Capabilities = Capabilities()
    timeouts: Timeouts = Timeouts()
    versions: Versions = Versions()
    promise: tuple[Promise, ...] = ()
    service: tuple[Service, ...] = ()
    setting: tuple[Setting, ...] = ()

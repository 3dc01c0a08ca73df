"""The catalogue: found, loaded, validated; a mistake is told with file, line, key and remedy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import benchmark
from benchmark.catalog import folders, load
from benchmark.catalog.declarations import positions
from benchmark.errors import CatalogueError, UsageError
from benchmark.plan import stages

WORKLOAD = """\
name = "charge-two"
title = "Two charges"
summary = "Two intents of two amounts."
classes = { charge = "event-like" }

[[intents]]
id = "one"
say = "Charge 1."

[[intents.calls]]
tool = "charge"
arguments = { order = "1", amount = 100, memo = "m" }

[[intents.slots]]
id = "a"
class = "charge"
call = 0
match = { order = "1", amount = 100 }

[[intents.outcomes]]
fulfils = true
slots = { a = 1 }

[[intents]]
id = "two"
say = "Charge 2."
calls = [
    { tool = "charge", arguments = { order = "2", amount = 200, memo = "m" } },
]
slots = [
    { id = "b", class = "charge", call = 0, match = { order = "2", amount = 200 } },
]
outcomes = [{ fulfils = true, slots = { b = 1 } }]

[drift.free]
intent = "one"
argument = "memo"
value = "n"

[drift.binding]
intent = "one"
argument = "amount"
value = 300

[[decoys]]
class = "charge"
when = "before"
fields = { order = "1", amount = 100 }
"""
TOOL = """\
name = "till"
title = "Till"
summary = "Takes charges."
provider = "bank"
command = ["{python}", "server.py"]

[tools.find]
description = "Finds."
arguments = { order = "string?", reference = "string?" }

[tools.charge]
description = "Charges."
arguments = { order = "string", amount = "integer", memo = "string?", reference = "string?", token = "string?" }

[tools.charge.contract]
reference = "reference"
binding = ["order", "amount"]
key = { carrier = "argument", name = "token", retention_s = 60 }

[tools.charge.contract.lookup]
tool = "find"
by = ["order", "reference"]
settles_s = 1.5
"""
PROVIDER = """\
name = "bank"
title = "Bank"
summary = "Keeps charges."
kind = "http"
oracle = "vault"
command = ["{python}", "bank.py"]

[[commit]]
class = "charge"
method = "POST"
path = "/charges"
receipt = "/receipt"
"""
RUNTIME = """\
name = "agent"
title = "Agent"
kind = "baseline"
command = ["{python}", "agent.py"]

[capabilities]
transports = ["stdio"]

[[promise]]
boundary = "agent-restart"
says = "nothing"
source = "https://example.com"
"""
SERVICE = """\
[[service]]
name = "db"
command = ["db", "{port}"]
"""
ORACLE = """\
def read(place):
    return [place]
"""
SPINE = 'pair = [\n    { kind = "key", workload = "charge-two", adapter = "till" },\n]\n'

FILES = {
    "workloads/charge-two.toml": WORKLOAD,
    "workloads/_spine.toml": SPINE,
    "adapters/tools/till/tool.toml": TOOL,
    "adapters/providers/bank/provider.toml": PROVIDER,
    "adapters/runtimes/agent/runtime.toml": RUNTIME,
    "oracles/vault.py": ORACLE,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small, right catalogue."""
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path


def plant(root: Path, name: str, old: str, new: str) -> None:
    """Replaces the one place in a file where ``old`` stands."""
    file = root / name
    text = file.read_text("utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
    file.write_text(text.replace(old, new), "utf-8")


def refusal(root: Path, name: str, old: str, new: str) -> str:
    """What loading says about a planted mistake, without the path."""
    plant(root, name, old, new)
    with pytest.raises(CatalogueError) as caught:
        load(roots=[root]).runtime("agent")
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith(f"{root / name}:"), said
    return said.removeprefix(f"{root / name}:")


def test_a_right_catalogue_is_loaded_without_a_word_of_advice(root: Path) -> None:
    catalogue = load(roots=[root])
    assert list(catalogue.workloads) == ["charge-two"]
    assert catalogue.adapters["till"].tools["charge"].contract is not None
    assert catalogue.providers["bank"].oracle == "vault"
    assert catalogue.runtimes["agent"].capabilities.transports == ("stdio",)
    assert catalogue.spine[0].adapter == "till"
    assert list(catalogue.problems()) == []


def test_entries_know_the_folder_their_programs_run_in(root: Path) -> None:
    catalogue = load(roots=[root])
    assert catalogue.adapter("till").folder == root / "adapters/tools/till"
    assert catalogue.provider_of("till").folder == root / "adapters/providers/bank"
    assert catalogue.runtime("agent").folder == root / "adapters/runtimes/agent"


def test_an_oracle_is_loaded_from_its_file_and_not_imported_by_name(root: Path) -> None:
    catalogue = load(roots=[root])
    read = catalogue.oracle("vault")
    assert read(root) == [root]  # type: ignore[comparison-overlap]
    assert catalogue.oracle("vault") is read
    with pytest.raises(ImportError):
        __import__("vault")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def read(:\n", "1: "),
        ("x = 1\n\ny = 1 / 0\n", "3: cannot be loaded: ZeroDivisionError"),
        ("def raed(place):\n    return []\n", "1: read: is missing; an oracle defines read(place)"),
    ],
)
def test_an_oracle_that_cannot_read_is_refused(root: Path, text: str, said: str) -> None:
    (root / "oracles/vault.py").write_text(text, "utf-8")
    with pytest.raises(CatalogueError) as caught:
        load(roots=[root]).oracle("vault")
    assert str(caught.value).startswith(f"{root}/oracles/vault.py:{said}")


W, T, P, R = (name for name in FILES if name.endswith(".toml") and "_spine" not in name)


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        # syntax and types
        (W, 'say = "Charge 1."', 'say = "Charge 1.', "8: is no valid TOML: illegal character"),
        (W, 'title = "Two charges"', "title = 3", "2: title: should be a valid string, is 3"),
        (W, 'title = "Two charges"', 'titel = "Two charges"', "2: titel: unknown key; did you mean 'title'?"),
        (W, 'summary = "', 'sumary = "x"\nsummary = "', "3: sumary: unknown key; did you mean 'summary'?"),
        (W, 'class = "charge"\ncall', 'clas = "charge"\ncall', "16: intents.0.slots.0.clas: unknown key; did you mean"),
        (W, '{ id = "b",', '{ id = "b", cal = 1,', "31: intents.1.slots.0.cal: unknown key; did you mean 'call'?"),
        (W, 'charge = "event-like"', 'charge = "event-lik"', "4: classes.charge: is 'event-lik', must be 'event-like' or"),
        (W, 'when = "before"', 'when = "befor"', "47: decoys.0.when: is 'befor', must be 'before' or 'during'; did you mea"),
        (W, 'name = "charge-two"', 'name = "charge-too"', "1: name: is 'charge-too', but the file or folder is called"),
        (T, 'provider = "bank"', 'provider = "bank"\nhttp_answers = "see"', "5: http_answers: is 'see', must be 'sse' or '"),
        (T, "settles_s = 1.5", 'settles_s = "soon"', "23: tools.charge.contract.lookup.settles_s: should be a valid number"),
        (T, "settles_s = 1.5", "setles_s = 1.5", "23: tools.charge.contract.lookup.setles_s: unknown key; did you mean"),
        (T, ', name = "token"', '', "18: tools.charge.contract.key.name: is missing; add the key 'name'"),
        (T, "retention_s = 60 }", "retention = 60 }", "18: tools.charge.contract.key.retention: unknown key; did you mean"),
        (P, 'kind = "http"', 'kind = "htp"', "4: kind: is 'htp', must be 'http' or 'files'; did you mean 'http'?"),
        (R, 'kind = "baseline"', 'kind = "base-line"', "3: kind: is 'base-line', must be 'baseline',"),
        (R, '["stdio"]', '["stdoi"]', "7: capabilities.transports.0: is 'stdoi', must be 'stdio' or 'http'; did you mean"),
        # names across files
        (T, 'provider = "bank"', 'provider = "bnak"', "4: provider: there is no provider 'bnak'; did you mean 'bank'?"),
        (P, 'oracle = "vault"', 'oracle = "volt"', "5: oracle: there is no oracle 'volt'; did you mean 'vault'?"),
        (W, '[[intents.calls]]\ntool = "charge"', '[[intents.calls]]\ntool = "chrage"', "11: intents.0.calls.0.tool: no ad"),
        (R, 'boundary = "agent-restart"', 'boundary = "restart"', "10: promise.0.boundary: there is no boundary 'restart';"),
        (R, '"agent-restart"', '["agent-restart", "restart"]', "10: promise.0.boundary: there is no boundary 'restart'"),
        (R, '"agent-restart"', '["none", "none"]', "10: promise.0.boundary: 'none' has a promise already; one word for"),
        (R, '"agent-restart"', "[]", "10: promise.0.boundary: is empty; name the boundaries of which the documents speak"),
        (R, 'says = "nothing"', 'says = "once"', "11: promise.0.says: is 'once', must be 'exactly-once', 'at-most-once',"),
        (R, "[capabilities]", "[environment]\n[capabilities]", "6: environment: is empty; name the file that pins it"),
        (R, '"agent.py"]', '"{env}/x"]', "4: command: names {env}, but there is no [environment]; add one"),
        (R, "[[promise]]", f"{SERVICE}{SERVICE}[[promise]]", "13: service.1.name: is 'db' a second time; give each"),
        (R, "[[promise]]", f"{SERVICE}ready = 'up'\n[[promise]]", "12: service.0.ready: is 'up', must be 'tcp' or a path"),
        (R, "[[promise]]", SERVICE.replace("{port}", "80") + "[[promise]]", "11: service.0.command: has no {port}, so"),
        (R, '["stdio"]', "[]", "7: capabilities.transports: is empty, so that no cell could run"),
        ("workloads/_spine.toml", "charge-two", "charge-to", "2: pair.0.workload: there is no workload 'charge-to'; did yo"),
        ("workloads/_spine.toml", '"till"', '"tilt"', "2: pair.0.adapter: there is no adapter 'tilt'; did you mean 'till'?"),
        ("workloads/_spine.toml", '"key"', '"look-up"', "2: pair.0.kind: is 'look-up', but the contract is of the kind 'ke"),
        # adapters and providers on their own
        (T, 'amount = "integer"', 'amount = "int"', "13: tools.charge.arguments.amount: 'int' is no type; use one of strin"),
        (T, '["order", "amount"]', '["order", "amonut"]', "17: tools.charge.contract.binding.1: the tool has no argument"),
        (T, 'reference = "reference"', 'reference = "ref"', "16: tools.charge.contract.reference: the tool has no argument"),
        (T, 'name = "token"', 'name = "order"', "18: tools.charge.contract.key.name: the argument 'order' must be optional"),
        (T, '["order", "amount"]', '["order", "amount", "token"]', "18: tools.charge.contract.key.name: 'token' is in bind"),
        (T, 'tool = "find"', 'tool = "fund"', "21: tools.charge.contract.lookup.tool: the adapter has no tool 'fund'; did"),
        (T, 'tool = "find"', 'tool = "charge"', "21: tools.charge.contract.lookup.tool: 'charge' has a contract; a look-up"),
        (T, 'by = ["order",', 'by = ["odrer",', "22: tools.charge.contract.lookup.by.0: 'find' has no argument 'odrer'"),
        (T, 'reference = "reference"', 'on_repeat = "refuse"', "16: tools.charge.contract.on_repeat: goes with a natural_k"),
        (T, 'reference = "reference"', 'natural_key = ["memo"]\non_repeat = "refuse"', "16: tools.charge.contract.natural_"),
        (T, 'reference = "reference"', 'effects = { each = "order" }', "16: tools.charge.contract.effects.each: the argume"),
        (P, 'command = ["{python}", "bank.py"]\n', "", "1: command: is missing; an http provider says how it is started"),
        (P, 'path = "/charges"', 'path = "/(charges"', "11: commit.0.path: is no regular expression: missing )"),
        (P, 'receipt = "/receipt"', 'receipt = "receipt"', "12: commit.0.receipt: 'receipt' is no JSON pointer"),
        # a workload on an adapter
        (T, 'amount = "integer"', 'amount = "string"', "13: tools.charge.arguments.amount: no workload fits: is"),
        (T, 'memo = "string?", ', "", "13: tools.charge.arguments: no workload fits: lacks the"),
        (T, 'token = "string?"', 'token = "string?", by = "string"', "13: tools.charge.arguments.by: no workload fits: is"),
    ],
)  # fmt: skip
def test_a_planted_mistake_is_told_with_line_key_and_remedy(root: Path, name: str, old: str, new: str, said: str) -> None:
    assert refusal(root, name, old, new).startswith(said)


def test_the_closest_contract_key_is_offered_deep_inside_a_file(root: Path) -> None:
    said = refusal(root, T, 'reference = "reference"', 'refrence = "reference"')
    assert said == "16: tools.charge.contract.refrence: unknown key; did you mean 'reference'?"


def test_a_reader_cannot_make_a_declared_effect(root: Path) -> None:
    tool = (root / T).read_text("utf-8")
    head = tool.index("[tools.charge.contract]")
    (root / T).write_text(tool[:head], "utf-8")
    (root / "workloads/_spine.toml").unlink()
    with pytest.raises(
        CatalogueError, match="no workload fits: the tool only reads, but 'charge-two' declares an effect of it"
    ):
        load(roots=[root])


def test_a_call_makes_as_many_effects_as_it_has_slots(root: Path) -> None:
    plant(root, T, 'memo = "string?"', 'memo = "string?", who = "string[]?"')
    said = refusal(root, T, 'reference = "reference"', 'effects = { each = "who" }')
    assert said.startswith(
        "16: tools.charge.contract.effects: no workload fits: makes 0 effects of the call in 'charge-two', which declares 1"
    )


def test_a_contract_that_binds_otherwise_is_advice_and_loads(root: Path) -> None:
    plant(root, T, '["order", "amount"]', '["order", "memo"]')
    said = [problem.message for _, problem in load(roots=[root]).problems()]
    assert said == [
        "lacks 'amount', which the binding drift of 'charge-two' changes",
        "holds 'memo', which the free drift of 'charge-two' changes",
    ]


def test_a_namesake_of_a_tool_with_other_arguments_is_advice_and_its_workload_does_not_run_there(root: Path) -> None:
    tool = root / "adapters/tools/tap/tool.toml"
    tool.parent.mkdir()
    other = TOOL.replace('"till"', '"tap"').replace("amount", "cents").replace("[tools.charge", "[tools.pour")
    tool.write_text(
        other + '\n[tools.charge]\ndescription = "Charges a battery."\narguments = { watts = "integer" }\n', "utf-8"
    )
    pour = WORKLOAD.replace('"charge-two"', '"pour"').replace("amount", "cents").replace('tool = "charge"', 'tool = "pour"')
    (root / "workloads/pour.toml").write_text(pour, "utf-8")
    catalogue = load(roots=[root])
    said = [problem.message for placed, problem in catalogue.problems() if placed.file == tool]
    assert "lacks the argument 'order' of the call in 'charge-two'" in said
    assert [(here.workload.name, here.adapter.name) for here in stages(catalogue)] == [
        ("charge-two", "till"),
        ("pour", "tap"),
    ]


def test_an_adapter_whose_tools_nobody_calls_is_told_so(root: Path) -> None:
    tool = root / "adapters/tools/tap/tool.toml"
    tool.parent.mkdir()
    tool.write_text(TOOL.replace('"till"', '"tap"').replace("tools.charge", "tools.charg"), "utf-8")
    with pytest.raises(CatalogueError, match=r"tools: no workload does with the tools find, charg; did you mean 'charge'"):
        load(roots=[root])


def test_a_workload_that_fits_no_adapter_is_told_the_first_reason(root: Path) -> None:
    other = WORKLOAD.replace('"charge-two"', '"other"').replace("amount", "cents")
    (root / "workloads/other.toml").write_text(other, "utf-8")
    with pytest.raises(CatalogueError) as caught:
        load(roots=[root])
    said = "6: intents: no adapter fits; of till, tools.charge.arguments lacks the argument 'cents' of the call in 'other'"
    assert str(caught.value).endswith(said)


def test_a_workload_of_tools_that_no_adapter_has_together_is_told_so(root: Path) -> None:
    tool = root / "adapters/tools/tap/tool.toml"
    tool.parent.mkdir()
    tool.write_text(TOOL.replace('"till"', '"tap"').replace("tools.charge", "tools.pour"), "utf-8")
    pour = WORKLOAD.replace('"charge-two"', '"pour"').replace(
        '[[intents.calls]]\ntool = "charge"', '[[intents.calls]]\ntool = "pour"'
    )
    (root / "workloads/pour.toml").write_text(pour, "utf-8")
    with pytest.raises(
        CatalogueError, match=r"pour\.toml:6: intents: no adapter has the tools pour, charge together; add one"
    ):
        load(roots=[root])


def test_a_file_that_is_not_utf8_is_told_so(root: Path) -> None:
    (root / W).write_bytes(b'name = "\xff"\n')
    with pytest.raises(CatalogueError, match=r"charge-two\.toml:1: is not UTF-8 \(byte 8\)"):
        load(roots=[root])


def test_an_unreadable_file_is_told_so(root: Path) -> None:
    (root / W).unlink()
    (root / W).mkdir()
    with pytest.raises(CatalogueError, match=r"charge-two\.toml:1: cannot be read: Is a directory"):
        load(roots=[root])


def test_a_folder_without_its_declaration_is_told_so(root: Path) -> None:
    (root / "adapters/tools/new").mkdir()
    (root / "adapters/tools/new/tools.toml").write_text("", "utf-8")
    with pytest.raises(CatalogueError, match=r"adapters/tools/new:1: has no tool\.toml; add one, or remove the folder"):
        load(roots=[root])


@pytest.mark.parametrize("kind", ["workload", "adapter", "provider", "runtime", "oracle"])
def test_an_unknown_name_is_answered_with_the_closest(root: Path, kind: str) -> None:
    names = {"workload": "charge-tow", "adapter": "tlil", "provider": "bnak", "runtime": "agnet", "oracle": "valut"}
    right = {"workload": "charge-two", "adapter": "till", "provider": "bank", "runtime": "agent", "oracle": "vault"}
    with pytest.raises(UsageError, match=f"there is no .*{kind} '{names[kind]}'; did you mean '{right[kind]}'?"):
        getattr(load(roots=[root]), kind)(names[kind])


def test_an_unknown_name_like_no_other_is_answered_with_all(root: Path) -> None:
    with pytest.raises(UsageError, match="there is no provider 'zzz'; known: bank"):
        load(roots=[root]).provider("zzz")


@pytest.mark.parametrize("way", ["", "runtime.toml"])
def test_a_runtime_is_found_by_the_path_of_any_folder(
    root: Path, tmp_path_factory: pytest.TempPathFactory, way: str
) -> None:
    folder = tmp_path_factory.mktemp("elsewhere") / "mine"
    folder.mkdir()
    (folder / "runtime.toml").write_text(RUNTIME.replace('"agent"', '"mine"', 1), "utf-8")
    placed = load(roots=[root]).runtime(folder / way)
    assert placed.value.name == "mine"
    assert placed.folder == folder.resolve()


def test_a_path_without_a_runtime_says_what_it_looked_for(root: Path) -> None:
    with pytest.raises(
        UsageError, match=r"there is no file .*/oracles/runtime\.toml; a runtime's folder holds a runtime\.toml"
    ):
        load(roots=[root]).runtime(root / "oracles")


def test_a_broken_runtime_does_not_keep_the_others_from_running(root: Path) -> None:
    broken = root / "adapters/runtimes/broken/runtime.toml"
    broken.parent.mkdir()
    broken.write_text("name = 3\n", "utf-8")
    catalogue = load(roots=[root])
    assert catalogue.runtime("agent").value.title == "Agent"
    with pytest.raises(CatalogueError, match="name: should be a valid string"):
        _ = catalogue.runtimes


def test_what_begins_with_an_underscore_is_no_entry(root: Path) -> None:
    (root / "adapters/runtimes/_shared").mkdir()
    (root / "adapters/runtimes/_shared/driver.py").write_text("", "utf-8")
    assert list(load(roots=[root]).runtime_files) == ["agent"]


def test_a_company_adds_its_own_catalogue_to_the_benchmarks(root: Path) -> None:
    (root / T).write_text((root / T).read_text("utf-8").replace("tools.charge", "tools.pour"), "utf-8")
    plant(root, W, '[[intents.calls]]\ntool = "charge"', '[[intents.calls]]\ntool = "pour"')
    plant(root, W, '{ tool = "charge"', '{ tool = "pour"')
    catalogue = load([root])
    assert "till" in catalogue.adapters
    assert "charge-card" in catalogue.workloads
    assert "charge-two" in catalogue.workloads
    assert folders.roots([root, root]) == (folders.own(), root.resolve())


def test_a_company_cannot_shadow_an_entry_unnoticed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("company")
    shutil.copytree(root / "oracles", other / "oracles")
    with pytest.raises(
        CatalogueError, match=r"vault\.py:1: name: the oracle 'vault' exists already in .*; choose another name"
    ):
        load(roots=[root, other])


def test_a_folder_that_is_no_catalogue_is_told_what_one_needs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no catalogue; it needs at least one of the folders workloads, adapters, oracles"):
        folders.roots([tmp_path])


def test_an_installed_package_brings_its_own_copy(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = root / "site-packages" / "benchmark"
    shutil.copytree(root / "workloads", package / "_catalogue" / "workloads")
    shutil.copytree(root / "adapters", package / "_catalogue" / "adapters")
    monkeypatch.setattr(benchmark, "__file__", str(package / "__init__.py"))
    assert folders.own() == package.resolve() / "_catalogue"
    shutil.rmtree(package / "_catalogue")
    with pytest.raises(UsageError, match="reinstall declared-effect-bench or run from a checkout"):
        folders.own()


def test_positions_are_found_through_headers_inline_tables_arrays_and_long_strings() -> None:
    text = '''a = """
b = 1
[c]
"""  # the above is text
"quoted key" = [
    1,  # [not.a.table]
    { x = "]}", y.z = [
        2,
    ] },
]
[t.'u v']
k = \'\'\'
m = 1\'\'\'
[[s]]
[[s]]
n = 1
[s.o]
p = "#"
'''
    lines = positions(text)
    wanted = {
        ("a",): 1,
        ("quoted key",): 5,
        ("quoted key", 1): 7,
        ("quoted key", 1, "x"): 7,
        ("quoted key", 1, "y", "z"): 7,
        ("quoted key", 1, "y", "z", 0): 8,
        ("t", "u v"): 11,
        ("t", "u v", "k"): 12,
        ("s", 0): 14,
        ("s", 1, "n"): 16,
        ("s", 1, "o", "p"): 18,
    }
    assert {keys: lines.get(keys) for keys in wanted} == wanted
    assert ("b",) not in lines
    assert ("c",) not in lines

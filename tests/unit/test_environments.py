"""An environment is whole or absent, is built once however many ask for it, and says in a line why it could not be built."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmark import builds, environments, pins
from benchmark.catalog import load
from benchmark.cli import run as bench
from benchmark.errors import CatalogueError
from benchmark.exits import Exit
from tests.unit import environments_world as world

NOBODY = "http://127.0.0.1:9"
"""Where nobody listens."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCH_ENVIRONMENTS", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A uv without a network; returns the folder in which it is told what to do and says what it was told."""
    program = world.uv(tmp_path / "uv")
    monkeypatch.setattr(builds, "uv", lambda: str(program))
    return program.parent


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only index of the real uv."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    return folder


def built(uv: Path) -> int:
    """How often something was installed."""
    calls = uv / "calls"
    return calls.read_text().count("pip install") if calls.exists() else 0


# --- the key -----------------------------------------------------------------------------------------------------


def test_equal_pins_share_an_environment_and_other_pins_are_another(tmp_path: Path) -> None:
    one, same, other = (
        world.environment(world.runtime(tmp_path / name, requirements_txt=pins))
        for name, pins in (("one", "tiny==1.0\n"), ("same", "tiny==1.0\n"), ("other", "tiny==1.1\n"))
    )
    assert one.folder == same.folder != other.folder


def test_each_pin_file_another_interpreter_and_another_way_to_build_change_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = 'python = "requirements.txt"\nnode = "package-lock.json"'
    plain = {"package_json": "{}", "package-lock_json": "{}"}
    keys = [world.environment(world.runtime(tmp_path / "a", both, **plain)).key]
    keys += [
        world.environment(world.runtime(tmp_path / "a", both, **{**plain, name: '{"x": 1}'})).key
        for name in (*plain, "requirements_txt")
    ]
    world.runtime(tmp_path / "a", both, **plain)
    for change in (("platform.python_version", lambda: "3.99.0"), ("benchmark.environments.FORMAT", 99)):
        with monkeypatch.context() as patch:
            patch.setattr(*change)
            keys.append(world.environment(tmp_path / "a").key)
    assert len(set(keys)) == 6


def test_environments_lie_where_the_user_says_and_never_in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    assert environments.root() == Path(os.environ["BENCH_ENVIRONMENTS"])
    monkeypatch.delenv("BENCH_ENVIRONMENTS")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert environments.root() == Path("/cache/declared-effect-bench/environments")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert environments.root() == Path("/home/me/.cache/declared-effect-bench/environments")


def test_a_pin_file_that_is_not_there_is_told_with_its_line(tmp_path: Path) -> None:
    folder = world.runtime(tmp_path / "mine", 'python = "other.txt"')
    with pytest.raises(CatalogueError, match=r"runtime\.toml:6: environment\.python: there is no file .*/other\.txt"):
        environments.of(load().runtime(folder))


# --- whole or absent ---------------------------------------------------------------------------------------------


def test_it_is_built_once_and_then_was_there_already(tmp_path: Path, uv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = world.runtime(tmp_path / "mine")
    assert bench(["install", str(folder)]) == Exit.COMPLETED
    assert "installed in" in capsys.readouterr().out
    assert bench(["install", str(folder)]) == Exit.COMPLETED
    assert "was there already" in capsys.readouterr().out
    assert built(uv) == 1


def test_variables_of_our_own_interpreter_do_not_shape_it(tmp_path: Path, uv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bytecode every import would cost several times as much; a user's own index is kept."""
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV", "UV_INDEX_URL"):
        monkeypatch.setenv(name, "1")
    builds.install(world.environment(world.runtime(tmp_path / "mine")))
    variables = (uv / "variables").read_text().split("\n")
    assert "UV_INDEX_URL" in variables
    assert not {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV"} & set(variables)


def test_of_many_that_ask_at_once_one_builds_it(tmp_path: Path, uv: Path) -> None:
    environment = world.environment(world.runtime(tmp_path / "mine"))
    (uv / "wait").touch()
    waiting: list[int] = []
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(builds.install, environment, lambda n=n: waiting.append(n)) for n in range(4)]  # type: ignore[misc]
        while len(waiting) < 3:
            time.sleep(0.01)
        (uv / "wait").unlink()
        assert len({each.result() for each in asked}) == 1
    assert built(uv) == 1


def test_a_half_install_is_never_used_and_is_cleared(tmp_path: Path, uv: Path) -> None:
    folder = world.runtime(tmp_path / "mine")
    environment = world.environment(folder)
    (environment.folder / "bin").mkdir(parents=True)
    (environment.folder / "bin/python").symlink_to(sys.executable)
    (environment.folder / "rubbish").touch()
    placed = load().runtime(folder)
    assert "is not installed" in str(environments.lacking(load(), placed))
    builds.install(environment)
    assert environments.lacking(load(), placed) is None
    assert not (environment.folder / "rubbish").exists()


def test_an_environment_whose_interpreter_is_gone_is_built_anew(tmp_path: Path, uv: Path) -> None:
    environment = world.environment(world.runtime(tmp_path / "mine"))
    builds.install(environment)
    environment.interpreter.unlink()
    environment.interpreter.symlink_to("/no/such/python")
    assert environment.facts is None
    builds.install(environment)
    assert (environment.facts is not None, built(uv)) == (True, 2)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_install_is_over_when_its_programs_are_and_then_done_anew(
    tmp_path: Path, uv: Path, number: signal.Signals
) -> None:
    folder = world.runtime(tmp_path / "mine")
    environment = world.environment(folder)
    (uv / "wait").touch()
    program = (
        "import sys; from benchmark import builds; from tests.unit import environments_world as world; "
        "builds.uv = lambda: sys.argv[1]; builds.install(world.environment(__import__('pathlib').Path(sys.argv[2])))"
    )
    installing = subprocess.Popen(
        [sys.executable, "-c", program, str(uv / "uv"), str(folder)], env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )
    while not (uv / "begun").exists():
        assert installing.poll() is None
        time.sleep(0.01)
    installing.send_signal(number)
    installing.wait()
    assert not environment.marker.exists()
    facts = builds.install(environment, (uv / "wait").unlink)  # it waits for the uv that the killed one has left
    assert environment.facts == facts
    assert built(uv) == 2


# --- failures ----------------------------------------------------------------------------------------------------


def test_a_failed_build_is_one_line_with_the_place_of_its_log_and_leaves_nothing(
    tmp_path: Path, uv: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (uv / "failure").write_text("resolving …\nerror: the wheel of tiny is for another planet\n  Caused by: distance\n")
    folder = world.runtime(tmp_path / "mine")
    assert bench(["install", str(folder)]) == Exit.HARNESS
    said = capsys.readouterr().err
    log = world.environment(folder).log
    told = f"bench: mine could not be installed: the wheel of tiny is for another planet; log: {log}"
    assert " ".join(said.split()) == told
    assert "distance" in log.read_text()
    assert [path for path in cache.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(
    "log",
    [
        "error: Failed to fetch: `…`\n  Caused by: client error (Connect)\n  Caused by: dns error: failed to lookup address",
        "npm error code ENOTFOUND\nnpm error network request to … failed, reason: getaddrinfo ENOTFOUND registry.example",
    ],
)
def test_without_a_network_the_registry_cannot_be_reached(log: str) -> None:
    assert builds.reason(log) == "the package registry cannot be reached"


def test_the_real_uv_without_a_network_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("UV_DEFAULT_INDEX", NOBODY), ("UV_HTTP_RETRIES", "0"), ("UV_CACHE_DIR", str(tmp_path / "uv"))):
        monkeypatch.setenv(name, value)
    folder = world.runtime(tmp_path / "mine", requirements_txt=f"tiny==1.0 --hash=sha256:{'0' * 64}\n")
    assert bench(["install", str(folder)]) == Exit.HARNESS
    assert "the package registry cannot be reached; log: " in " ".join(capsys.readouterr().err.split())


def test_without_uv_the_command_that_installs_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bench(["install", str(world.runtime(tmp_path / "mine"))]) == Exit.USAGE
    assert "uv is not installed" in capsys.readouterr().err


def test_without_npm_the_command_that_installs_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = world.runtime(
        tmp_path / "mine", 'node = "package-lock.json"', **{"package_json": "{}", "package-lock_json": "{}"}
    )
    assert bench(["install", str(folder)]) == Exit.USAGE
    assert "npm is not installed" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["mcp-python-1", "--all"]])
def test_it_is_said_which_runtimes_are_meant(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["install", *arguments]) == Exit.USAGE
    assert "name the runtimes to install, or say --all" in capsys.readouterr().err


# --- with the real uv, offline -----------------------------------------------------------------------------------


def test_what_is_pinned_is_installed_with_bytecode_and_known_without_a_process(tmp_path: Path, wheels: Path) -> None:
    folder = world.runtime(tmp_path / "mine", requirements_txt=world.wheel(wheels))
    environment = world.environment(folder)
    facts = builds.install(environment)
    assert environments.versions(load().runtime(folder)) == {"tiny": "1.0"}
    assert environment.version("nothing-of-the-kind") == environments.ABSENT
    assert facts.size > 1000
    assert list(environment.folder.rglob("tiny.cpython-*.pyc"))
    assert subprocess.check_output([environment.interpreter, "-c", "import tiny; print(tiny.VERSION)"], text=True) == "1.0\n"


def test_a_package_that_is_not_the_pinned_one_is_refused(tmp_path: Path, wheels: Path) -> None:
    pin = world.wheel(wheels)
    environment = world.environment(world.runtime(tmp_path / "mine", requirements_txt=pin[:-5] + "0000\n"))
    with pytest.raises(builds.BuildError, match=f"log: {environment.log}"):
        builds.install(environment)
    assert environment.facts is None


# --- new pins ----------------------------------------------------------------------------------------------------


def test_update_pins_the_newest_and_shows_what_changed(
    tmp_path: Path, wheels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = world.runtime(tmp_path / "mine", requirements_txt=world.wheel(wheels), requirements_in="tiny>=1\n")
    old = world.environment(folder).key
    pin = world.wheel(wheels, "1.2")
    assert bench(["update", str(folder)]) == Exit.COMPLETED
    said = " ".join(capsys.readouterr().out.split())
    assert "tiny 1.0 1.2" in said
    assert f"bench install {folder}" in said
    assert pins.pinned(world.environment(folder)) == {"tiny": "1.2"}
    assert pin.split("sha256:")[1].strip() in (folder / "requirements.txt").read_text()
    assert str(wheels) not in (folder / "requirements.txt").read_text()
    assert world.environment(folder).key != old
    assert bench(["update", str(folder)]) == Exit.COMPLETED
    assert "nothing newer" in capsys.readouterr().out


def test_an_update_that_fails_touches_no_file(tmp_path: Path, wheels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = world.runtime(tmp_path / "mine", requirements_in="no-such-package\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert bench(["update", str(folder)]) == Exit.HARNESS
    assert "mine was not updated: " in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_entries_that_share_their_pins_are_named(tmp_path: Path, wheels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    around = tmp_path / "catalogue/adapters/runtimes"
    world.runtime(around / "one", requirements_txt=world.wheel(wheels), requirements_in="tiny\n")
    world.runtime(around / "two", 'python = "../one/requirements.txt"')
    world.wheel(wheels, "2.0")
    assert bench(["update", "two", "--catalog", str(tmp_path / "catalogue")]) == Exit.COMPLETED
    assert "These pins are shared by one, two." in capsys.readouterr().out


def test_a_runtime_without_an_environment_pins_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["update", "no-retry"]) == Exit.USAGE
    assert "pins nothing" in capsys.readouterr().err


def test_no_pin_file_of_the_catalogue_names_a_registry() -> None:
    """Whoever mirrors a registry installs from the mirror."""
    catalogue = load()
    own = [environments.of(catalogue.runtime(name)) for name in catalogue.runtime_files]
    files = {file for environment in own if environment is not None for file in environment.pins}
    assert files
    for file in files:
        text = file.read_text()
        assert '"resolved"' not in text, file
        assert "index-url" not in text, file


# --- told elsewhere ----------------------------------------------------------------------------------------------


def test_the_doctor_names_the_command_that_installs_it(tmp_path: Path, uv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = world.runtime(tmp_path / "mine")
    assert bench(["doctor", "--runtime", str(folder)]) == Exit.NOTHING_RAN
    assert f"→ bench install {folder}" in capsys.readouterr().out
    builds.install(world.environment(folder))
    assert bench(["doctor", "--runtime", str(folder)]) == Exit.COMPLETED
    assert "own environment: tiny not installed" in capsys.readouterr().out


def test_the_list_of_runtimes_says_what_is_installed_in_which_version(
    tmp_path: Path, wheels: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    folder = world.runtime(tmp_path / "catalogue/adapters/runtimes/mine", requirements_txt=world.wheel(wheels))
    listed = ["list", "runtimes", "--catalog", str(tmp_path / "catalogue")]

    def row() -> str:
        assert bench(listed) == Exit.COMPLETED
        return next(line for line in capsys.readouterr().out.split("\n") if line.startswith(" mine "))

    assert " no " in row()
    builds.install(world.environment(folder))
    assert " 0 MB: tiny 1.0 " in row()
    assert bench([*listed, "--json"]) == Exit.COMPLETED
    told = {one["name"]: one["here"] for one in json.loads(capsys.readouterr().out)}
    assert told["mine"]["versions"] == {"tiny": "1.0"}
    assert told["mine"]["folder"] == str(world.environment(folder).folder)
    assert told["no-retry"]["installed"] is True


def test_deviating_settings_are_recorded_with_the_run(tmp_path: Path, uv: Path) -> None:
    folder = world.runtime(tmp_path / "mine")
    with (folder / "runtime.toml").open("a") as file:
        file.write('[[setting]]\nname = "retries"\nvalue = "0"\ndefault = "2"\nwhy = "as its documents advise"\n')
    cell = "charge-card.find-only.none.-.-.stdio.2025-11-25.first-once.-@1"
    ended = bench(["run", "--runtime", str(folder), "--cell", cell, "--no-report", "--out", str(tmp_path / "run")])
    assert ended == Exit.NOTHING_RAN
    header = json.loads((tmp_path / "run/run.json").read_text())
    assert header["settings"] == {"retries": "0 (default: 2); as its documents advise"}
    assert header["versions"] == {"tiny": "not installed"}

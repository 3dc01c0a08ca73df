from __future__ import annotations

import subprocess
from pathlib import Path

from benchmark import environments, provenance
from benchmark.catalog import load


def suite(root: Path) -> Path:
    (root / "workloads").mkdir(parents=True)
    (root / "workloads" / "one.toml").write_text("name = 'one'\n")
    (root / "adapters" / "tools" / "x").mkdir(parents=True)
    (root / "adapters" / "tools" / "x" / "tool.toml").write_text("")
    return root


def test_the_same_files_elsewhere_are_the_same_suite(tmp_path: Path) -> None:
    one, two = suite(tmp_path / "one"), suite(tmp_path / "two")
    assert provenance.suite_hash([one]) == provenance.suite_hash([two])
    (two / "workloads" / "one.toml").write_text("name = 'two'\n")
    assert provenance.suite_hash([one]) != provenance.suite_hash([two])


def test_what_an_interpreter_leaves_behind_is_no_part_of_the_suite(tmp_path: Path) -> None:
    root = suite(tmp_path)
    before = provenance.suite_hash([root])
    (root / "adapters" / "__pycache__").mkdir()
    (root / "adapters" / "__pycache__" / "x.cpython-311.pyc").write_bytes(b"x")
    (root / "results").mkdir()
    (root / "results" / "x").write_text("x")
    assert provenance.suite_hash([root]) == before


def test_a_runtime_is_no_part_of_the_suite_that_judges_it(tmp_path: Path) -> None:
    root = suite(tmp_path)
    before = provenance.suite_hash([root])
    folder = root / "adapters" / "runtimes" / "x"
    folder.mkdir(parents=True)
    (folder / "requirements.txt").write_text("x==1\n")
    one = provenance.runtime_hash([folder])
    (folder / "requirements.txt").write_text("x==2\n")
    (folder / "node_modules").mkdir()
    two = provenance.runtime_hash([folder])
    (folder / "node_modules" / "installed.js").write_text("")
    assert one != two == provenance.runtime_hash([folder])
    assert provenance.suite_hash([root]) == before


def test_a_runtime_is_also_the_neighbours_that_it_names_and_what_neighbours_share(tmp_path: Path) -> None:
    """A run goes on only with the same program and pins, wherever these lie."""
    around = tmp_path / "adapters" / "runtimes"
    for name in ("mine", "program", "pins", "_shared", "other"):
        (around / name).mkdir(parents=True)
    (around / "mine/runtime.toml").write_text(
        'name = "mine"\ntitle = "Mine"\nkind = "baseline"\ncommand = ["{python}", "../program/agent.py"]\n'
        '[environment]\npython = "../pins/requirements.txt"\n'
    )
    runtime = load().runtime(around / "mine")
    hashes = [provenance.runtime_hash(environments.folders(runtime))]
    for name in ("program", "pins", "_shared"):
        (around / name / "file").touch()
        hashes.append(provenance.runtime_hash(environments.folders(runtime)))
    assert len(set(hashes)) == 4
    (around / "other/file").touch()
    assert provenance.runtime_hash(environments.folders(runtime)) == hashes[-1]


def test_the_commit_says_whether_files_differ_from_it(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    assert provenance.git_commit(tmp_path) is None

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    (tmp_path / "file").write_text("x")
    git("add", "file")
    git("commit", "-m", "x")
    commit = provenance.git_commit(tmp_path)
    assert commit is not None
    assert len(commit) == 40
    assert provenance.git_commit(tmp_path / "inside") is None
    (tmp_path / "file").write_text("y")
    assert provenance.git_commit(tmp_path) == f"{commit}+changes"


def test_versions_that_are_not_installed_say_so() -> None:
    found = provenance.versions(["pydantic", "no-such-distribution"])
    assert found["pydantic"][0].isdigit()
    assert found["no-such-distribution"] == "not installed"

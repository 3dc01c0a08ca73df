"""What a bad machine costs: one clear error, nothing half written, no wrong verdict; mended, the run goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmark.exits import Exit
from benchmark.store import Store
from tests.engine.stage import name

ROOT = Path(__file__).resolve().parents[2]
CLOCK = ROOT / "tests" / "hostile" / "_hostile" / "clock.c"
CELLS = (name("none"), name("after-commit", manifestation="reset"), name("before-delivery", manifestation="error"))
MANY = tuple(name("none", repeat=number + 1) for number in range(40))
TIMED = (
    name("none", pair="charge-card.client-token"),
    name("token-expired", pair="charge-card.client-token"),
    name("after-timeout", variant="before-retry", manifestation="silence"),
    name("after-commit", manifestation="silence"),
)
PATIENCE_S = 240.0


def selected(cells: tuple[str, ...]) -> str:
    return " ".join(f"--cell {cell}" for cell in cells)


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it said on standard error."""

    code: int
    err: str

    @property
    def complaint(self) -> str:
        """Its only line of complaint, without the line that announces the sweep."""
        (line,) = [line for line in self.err.splitlines() if line.startswith("bench: ")]
        assert "Traceback" not in self.err
        return line


class Machine:
    """Runs shell scripts in which ``$BENCH`` is the command, in a mount namespace of their own where they mount."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scratch = folder / "tmp"
        self.disk = folder / "disk"
        self.scratch.mkdir()
        self.disk.mkdir()

    def start(self, script: str, *before: str, **more: str) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "TMPDIR": str(self.scratch),
            "PYTHONPATH": str(ROOT),
            "NO_COLOR": "1",
            "BENCH": f"{sys.executable} -m benchmark",
            "DISK": str(self.disk),
        }
        return subprocess.Popen(
            [*before, "sh", "-ec", script],
            cwd=self.folder,
            env=environment | more,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, script: str, *before: str, **more: str) -> Said:
        process = self.start(script, *before, **more)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert list(self.scratch.iterdir()) == []
        return Said(process.returncode, err)

    def mounted(self, script: str) -> Said:
        """With a mount namespace of its own: what it mounts is gone with it."""
        return self(script, "unshare", "--mount")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def mounting() -> None:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
        pytest.skip("may not mount here")


def whole(run: Path) -> int:
    """The number of cells that a run holds; raises if a line or a history is not whole."""
    store = Store.open(run)
    results = store.results()
    for result in results:
        assert store.history(result.cell).reading.error is None
    assert store.notes == []
    assert list(run.rglob("*.part")) == []
    return len(results)


@pytest.mark.usefixtures("mounting")
def test_a_disk_that_fills_up_ends_the_sweep_with_one_error_and_a_larger_one_lets_it_go_on(machine: Machine) -> None:
    said = machine.mounted(
        f"""
        mount -t tmpfs -o size=200k tmpfs $DISK
        $BENCH run --runtime no-retry {selected(MANY)} --jobs 3 --out $DISK/run || test $? = 3
        cp -r $DISK/run broken-off
        mount -o remount,size=20m $DISK
        $BENCH run --resume $DISK/run --jobs 3
        cp -r $DISK/run completed
        """
    )
    assert said.code == Exit.COMPLETED, said.err
    assert said.complaint.endswith("cannot write a result: No space left on device")
    assert 0 < whole(machine.folder / "broken-off") < len(MANY)
    assert whole(machine.folder / "completed") == len(MANY)


@pytest.mark.usefixtures("mounting")
@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ("-o size=4k", Exit.USAGE, "cannot begin a run: No space left on device"),
        ("-o ro", Exit.USAGE, "cannot make the run's folder: Read-only file system"),
    ],
)
def test_a_run_does_not_begin_where_it_cannot_be_written(machine: Machine, options: str, code: Exit, says: str) -> None:
    said = machine.mounted(
        f"mount -t tmpfs {options} tmpfs $DISK; $BENCH run --runtime no-retry {selected(MANY)} --out $DISK/run"
    )
    assert (said.code, said.complaint.endswith(says)) == (code, True), said.err


@pytest.mark.usefixtures("mounting")
@pytest.mark.parametrize("options", ["size=10m,nr_inodes=8", "size=40k"])
def test_a_full_scratch_disk_is_the_benchmarks_failure_and_no_runtimes(machine: Machine, options: str) -> None:
    """With no room for a cell's files, or for a provider's database."""
    said = machine.mounted(
        f"""
        mount -t tmpfs -o {options} tmpfs $DISK
        code=0
        TMPDIR=$DISK $BENCH run --runtime no-retry {selected(CELLS)} --jobs 1 --out run || code=$?
        echo "left: $(ls -A $DISK)" >&2
        exit $code
        """
    )
    assert said.code == Exit.HARNESS, said.err
    assert "Traceback" not in said.err
    assert said.err.splitlines()[-1] == "left: "
    assert [result.verdict for result in Store.open(machine.folder / "run").results() if result.verdict.judged] == []


@pytest.mark.usefixtures("mounting")
def test_a_run_on_a_read_only_disk_is_not_gone_on_with_and_can_be_shown(machine: Machine) -> None:
    said = machine.mounted(
        f"""
        $BENCH run --runtime no-retry {selected(CELLS)} --out $DISK/run
        mount --bind $DISK $DISK
        mount -o remount,ro,bind $DISK
        $BENCH show $DISK/run
        $BENCH run --resume $DISK/run
        """
    )
    assert (said.code, said.complaint.endswith("cannot be written: Read-only file system")) == (Exit.USAGE, True), said.err


def test_a_file_in_place_of_a_folder_is_named(machine: Machine) -> None:
    (machine.folder / "taken").touch()
    said = machine(f"$BENCH run --runtime no-retry {selected(CELLS)} --out taken/run")
    assert (said.code, "taken/run" in said.complaint, "Not a directory" in said.complaint) == (Exit.USAGE, True, True)
    said = machine(
        f"""
        $BENCH run --runtime no-retry {selected(CELLS)} --out run
        rm -r run/history run/cells.jsonl
        touch run/history
        $BENCH run --resume run
        """
    )
    assert (said.code, "cannot go on with this run" in said.complaint) == (Exit.USAGE, True)


MORTAL = () if os.geteuid() else ("setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search")
"""Before a command: root without the right to ignore a file's mode."""


def test_a_folder_that_may_not_be_written_or_read_is_one_error(machine: Machine) -> None:
    machine.disk.chmod(0o500)
    said = machine(f"$BENCH run --runtime no-retry {selected(CELLS)} --out $DISK/run", *MORTAL)
    assert (said.code, "Permission denied" in said.complaint) == (Exit.USAGE, True), said.err
    machine.disk.chmod(0o700)
    said = machine(
        f"""
        $BENCH run --runtime no-retry {selected(CELLS)} --out $DISK/run
        chmod 000 $DISK/run
        $BENCH run --resume $DISK/run
        """,
        *MORTAL,
    )
    machine.disk.joinpath("run").chmod(0o700)
    assert (said.code, "Permission denied" in said.complaint) == (Exit.USAGE, True), said.err


def test_of_two_runs_into_one_folder_the_second_is_refused_and_the_first_unharmed(machine: Machine) -> None:
    first = machine.start(f"exec $BENCH run --runtime no-retry {selected(MANY)} --out run")
    deadline = time.monotonic() + PATIENCE_S
    while not (machine.folder / "run" / "run.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    others = [
        machine.start(f"exec $BENCH {again}")
        for again in (f"run --runtime no-retry --cell {MANY[0]} --out run", "run --resume run")
    ]
    for other in others:
        _, err = other.communicate(timeout=PATIENCE_S)
        assert (other.returncode, "another run writes this folder" in err) == (Exit.USAGE, True), err
    _, err = first.communicate(timeout=PATIENCE_S)
    assert first.returncode == Exit.COMPLETED, err
    assert whole(machine.folder / "run") == len(MANY)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_wall_clock_that_jumps_decides_nothing(machine: Machine) -> None:
    """At every look by up to a year: a retention, a timeout or an order that asked it would be another one."""
    library = machine.folder / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(CLOCK), "-ldl"], check=True)
    look = [sys.executable, "-c", "import time; print(time.time())"]
    looks = [float(subprocess.check_output(look, env={**os.environ, "LD_PRELOAD": str(library)})) for _ in range(2)]
    assert abs(looks[0] - time.time()) > 60 or abs(looks[1] - time.time()) > 60, "the clock does jump"
    told = {}
    for run, more in (("steady", {}), ("jumping", {"LD_PRELOAD": str(library)})):
        said = machine(f"$BENCH run --runtime blind-retry {selected(TIMED)} --out {run}", **more)
        assert said.code == Exit.COMPLETED, said.err
        results = Store.open(machine.folder / run).results()
        told[run] = {result.cell: (result.verdict, result.exposed, result.extra, result.unresolved) for result in results}
    assert told["jumping"] == told["steady"]
    assert {verdict for verdict, *_ in told["steady"].values()} == {"correct", "violated"}

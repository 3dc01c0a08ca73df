"""The stand-alone reproductions still print what their page says: those whose packages are installed here anyway."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.test_real_clients import installed, needs_node

REPRODUCTIONS = Path(__file__).resolve().parents[2] / "reproductions"
OWN = "the benchmark's own interpreter"
PLACES = (
    ("mcp_client_retry.py timeout", OWN),
    pytest.param("mcp_client_retry.mjs timeout", "mcp-typescript-1", marks=[pytest.mark.installs, needs_node]),
    pytest.param("langgraph_node_retry.py die-once", "langgraph", marks=pytest.mark.installs),
    pytest.param("effect_identity.py langgraph keyed", "langgraph", marks=pytest.mark.installs),
    pytest.param("agent_at_defaults.py langgraph killed", "langgraph", marks=pytest.mark.installs),
)
"""A row of the page → the runtime whose environment has its packages."""

pytestmark = pytest.mark.cells


def told(script: str) -> int:
    """The figure in the page's row that begins with this command."""
    page = (REPRODUCTIONS / "README.md").read_text()
    found = re.search(rf"^\| `{re.escape(script)}`.*\| (\d+)[^|]* \|$", page, re.MULTILINE)
    assert found is not None, f"the page has no row for {script}"
    return int(found[1])


@pytest.mark.parametrize(("script", "runtime"), PLACES)
def test_a_script_prints_what_its_page_says(script: str, runtime: str, tmp_path: Path) -> None:
    folder = shutil.copytree(REPRODUCTIONS, tmp_path / "reproductions")
    file, *arguments = script.split()
    program = sys.executable
    if runtime != OWN:
        environment = installed(runtime)
        program = str(environment.interpreter)
        if file.endswith(".mjs"):
            (folder / "node_modules").symlink_to(environment.modules)
            program = "node"
    ended = subprocess.run([program, file, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert f"happened: {told(script)}" in ended.stdout, ended.stdout + ended.stderr

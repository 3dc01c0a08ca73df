from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from benchmark import reference
from benchmark.boundaries import TABLE
from benchmark.catalog import load
from benchmark.exits import Exit

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_the_generated_reference_is_not_stale() -> None:
    assert reference.stale(DOCS / "reference", reference.pages(load())) == [], "run python -m benchmark.reference"


def test_a_stale_page_and_a_left_over_schema_are_noticed(tmp_path: Path) -> None:
    made = {"a.md": "a\n", "schemas/b.json": "{}\n"}
    (tmp_path / "schemas").mkdir()
    (tmp_path / "a.md").write_text("old\n")
    (tmp_path / "schemas" / "b.json").write_text("{}\n")
    (tmp_path / "schemas" / "gone.json").write_text("{}\n")
    assert reference.stale(tmp_path, made) == ["a.md", "schemas/gone.json"]


def test_every_boundary_and_exit_code_stands_in_the_reference() -> None:
    assert all(f"`{boundary}`" in reference.boundaries() for boundary in TABLE)
    assert all(f"| {code.value} | {code.meaning} |" in reference.results() for code in Exit)


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("workload", "workloads/[!_]*.toml"),
        ("tool", "adapters/tools/*/tool.toml"),
        ("provider", "adapters/providers/*/provider.toml"),
        ("runtime", "adapters/runtimes/*/runtime.toml"),
    ],
)
def test_every_declaration_of_the_catalogue_satisfies_its_published_schema(schema: str, pattern: str) -> None:
    validator = jsonschema.Draft202012Validator(json.loads((DOCS / "reference" / "schemas" / f"{schema}.json").read_text()))
    files = sorted(ROOT.glob(pattern))
    assert files
    for file in files:
        validator.validate(tomllib.loads(file.read_text()))


def test_every_link_between_pages_leads_somewhere() -> None:
    import re

    pages = [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []


@pytest.mark.parametrize(
    ("page", "place"),
    [
        ("add-a-workload", "workloads/refund-card.toml"),
        ("add-a-tool-adapter", "adapters/tools/my-adapter/tool.toml"),
        ("add-a-runtime", "adapters/runtimes/my-runtime/runtime.toml"),
    ],
)
def test_the_declaration_in_each_how_to_is_accepted(tmp_path: Path, page: str, place: str) -> None:
    text = (DOCS / "how-to" / f"{page}.md").read_text()
    declaration = text.split("```toml\n")[1].split("```")[0]
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    file.write_text(declaration)
    found = load([tmp_path])
    assert {*found.workloads, *found.adapters, *found.runtimes} >= {
        Path(place).stem if "workloads" in place else file.parent.name
    }

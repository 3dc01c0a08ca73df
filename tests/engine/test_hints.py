"""The experiment with ``idempotentHint`` tells a runtime that believes the hint from one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.experiments import hints

PLANTED = Path(__file__).resolve().parents[1] / "planted"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "FAULTS", (("none", "-", "-"), ("before-delivery", "-", "error")))


@pytest.mark.parametrize(("runtime", "differ"), [(str(PLANTED / "believes-hints"), 4), ("no-retry", 0)])
@pytest.mark.usefixtures("few")
def test_a_flipped_hint_shows_who_believes_it(
    runtime: str, differ: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hints.measure(runtime, hints.catalogue(tmp_path / "catalogue"), tmp_path)
    assert f"8 cells twice, {differ} differ; the hint was {{True}} and {{False}}" in capsys.readouterr().out


@pytest.mark.usefixtures("few")
def test_a_runtime_that_cannot_be_swept_is_no_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not hints.measure(str(PLANTED / "hangs-at-once"), tmp_path, tmp_path)
    assert "exit status" in capsys.readouterr().out

"""The examples run, and the page about them shows their committed results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

pytest.importorskip("sklearn", reason="the extra regard[sklearn] is not installed")

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "option"), [("image_patches", "--epochs"), ("audio_frames", "--epochs"), ("learned_norm_units", "--steps")]
)
def test_examples_run(name: str, option: str) -> None:
    command = [sys.executable, EXAMPLES / f"{name}.py", "--seeds", "1", option, "2"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("| ")


def test_the_page_shows_the_committed_results() -> None:
    from example_results import PAGE, with_blocks

    page = PAGE.read_text(encoding="utf-8")
    assert with_blocks(page) == page


@pytest.mark.parametrize("name", ["image_patches", "audio_frames", "learned_norm_units"])
def test_results_have_their_command_environment_and_seeds(name: str) -> None:
    saved = json.loads((EXAMPLES / "results" / f"{name}.json").read_text(encoding="utf-8"))
    assert saved["command"].startswith(f"python examples/{name}.py")
    assert "torch" in saved["environment"]
    assert {row["seed"] for row in saved["rows"]} == set(range(5))


def test_a_short_training_beats_guessing_on_masked_frames() -> None:
    from audio_frames import recordings
    from pooled_classifier import accuracy, norm, train

    generator = torch.Generator().manual_seed(0)
    (training, tone), (test, _) = (recordings(count, generator) for count in (600, 200))
    assert not training.mask.all()
    assert (training.items[~training.mask] == 0).all()
    assert (tone.sum(1) >= 3).all(), "a tone of 240 samples overlaps three frames or more"
    model = train("apln", training, seed=0, epochs=12)
    assert accuracy(model, test) > 0.25  # of eight classes
    assert norm(model, test) != 1


def test_walks_end_at_their_points_and_activations_have_their_widths() -> None:
    from learned_norm_units import ACTIVATIONS, MLP, RNN, points, walks

    generator = torch.Generator().manual_seed(0)
    xy, inside = points(500, 2.0, generator)
    assert 0.3 < inside.mean() < 0.5
    steps = walks(xy, generator)
    torch.testing.assert_close(steps.sum(1), xy, atol=1e-5, rtol=0)
    for name in ACTIVATIONS:
        assert MLP(name, 3)(xy).shape == (500,)
        assert RNN(name, 3)(steps).shape == (500,)

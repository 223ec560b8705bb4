"""The kind "speed": every form runs, measurements alternate, and cells for a missing device are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from regard.errors import InputError
from regard.recorder import Silent
from regard_lab.kinds import speed
from regard_lab.reading.table_file import read_table
from regard_lab.tables.context import Context
from regard_lab.tables.table import Cell

TOML = """
kind = "speed"
measures = ["speed", "ms"]
[options]
beside = "{beside}"
threads = 1
[methods.own]
form = "{form}"
[corpora.small]
shape = {shape}
[settings.here]
machine = "{machine}"
layer = {layer}
backward = {backward}
"""


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "ROUNDS", 3)
    monkeypatch.setattr(speed, "SECONDS", 0.0)
    monkeypatch.setattr(speed, "SAMPLE", 0.0)


def cell(path: Path, **changes: str) -> Cell:
    values = {"form": "pow", "beside": "apln", "shape": "[2, 3, 4]", "machine": "cpu", "layer": "false"}
    file = path / "table.toml"
    file.write_text(TOML.format(**{**values, "backward": "true", **changes}), encoding="utf-8")
    (one,) = read_table(file, "paper/table").cells()
    return one


@pytest.mark.parametrize("backward", ["true", "false"])
@pytest.mark.parametrize("layer", ["true", "false"])
@pytest.mark.parametrize("form", list(speed.forms()))
def test_every_form_is_timed(tmp_path: Path, form: str, layer: str, backward: str) -> None:
    one = cell(tmp_path, form=form, layer=layer, backward=backward)
    speed.check(one)
    (row,) = speed.run(one, [0], Context("cpu", Silent()))
    assert row["values"]["speed"] > 0
    assert row["values"]["ms"] > 0
    assert row["values"]["turns"] == 3
    assert {"torch", "cpu", "regard"} <= set(row["environment"])
    assert row["data"] == {}


def test_the_form_compared_to_has_the_speed_one(tmp_path: Path) -> None:
    rows = list(speed.run(cell(tmp_path, form="apln"), [0, 1], Context("cpu", Silent())))
    assert [row["values"]["speed"] for row in rows] == [1.0, 1.0]


def test_speed_is_the_time_of_the_reference_divided_by_that_of_the_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        speed, "alternating_times", lambda steps, wait: {"pow": [2.0, 8.0, 4.0], "apln": [1.0, 0.5, 3.0]}
    )
    (row,) = speed.run(cell(tmp_path), [0], Context("cpu", Silent()))
    assert row["values"] == {"speed": 0.25, "ms": 4000.0, "turns": 3}  # medians 1 and 4 seconds


def test_forms_alternate() -> None:
    done: list[str] = []
    times = speed.alternating_times({name: lambda name=name: done.append(name) for name in "ab"}, lambda: None)
    assert "".join(done).endswith("ababab")
    assert {len(several) for several in times.values()} == {3}


def test_equivalent_forms_agree() -> None:
    """Inside the limits all of APLN's forms are one formula; a power by log is a power."""
    states, mask = torch.rand(2, 3, 4, generator=torch.Generator().manual_seed(0)), torch.ones(2, 3, dtype=torch.bool)
    weights, norm, forms = torch.full((2, 3), 1 / 3), torch.tensor(0.9), speed.forms()
    same = [forms[name](states, weights, norm, mask) for name in ("apln", "unsigned", "unbounded", "pow", "kernel")]
    for other in same[1:]:
        torch.testing.assert_close(same[0], other, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(
        *(forms[f"power by {way}"](states, weights, norm, mask) for way in ("log", "pow")), rtol=1e-4, atol=1e-4
    )


def test_cuda_is_skipped_without_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert list(speed.run(cell(tmp_path, machine="cuda"), [0], Context("cpu", Silent()))) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"form": "cube"}, "form: expected one of apln, .*, got 'cube'"),
        ({"shape": "[2, 3]"}, r"shape: expected numbers of texts, words and features, 1 or more each, got \[2, 3\]"),
    ],
)
def test_invalid_forms_are_rejected(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        speed.check(cell(tmp_path, **changes))

"""The digests of a run's files and of the data it was trained on."""

from __future__ import annotations

import hashlib
from mmap import ALLOCATIONGRANULARITY as PAGE
from pathlib import Path

import pytest

from regard.models import manifest


@pytest.mark.parametrize("size", [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE])
def test_a_file_is_hashed_piece_by_piece(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "PIECE", PAGE)
    path, content = tmp_path / "file", bytes(number % 251 for number in range(size))
    path.write_bytes(content)
    assert manifest.of_file(path) == hashlib.sha256(content).hexdigest()

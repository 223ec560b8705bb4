"""`regard vectors distill`, with model2vec replaced by a stand-in: what is checked before, and what is left behind."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from regard.cli import main
from regard.data.vectors import read_vectors
from static_folder import write_static

pytest.importorskip("tokenizers", reason="the extra regard[vectors] is not installed")


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    folder = tmp_path / "encoder"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_text("{}", encoding="utf-8")
    return folder


def install(monkeypatch: pytest.MonkeyPatch, distill: Any) -> None:
    library, package = ModuleType("model2vec.distill"), ModuleType("model2vec")
    library.distill = distill  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "model2vec", package)
    monkeypatch.setitem(sys.modules, "model2vec.distill", library)


def test_the_folder_can_be_read(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: dict[str, Any] = {}

    def distill(**options: Any) -> Any:
        asked.update(options)
        return SimpleNamespace(save_pretrained=lambda path: write_static(Path(path)))

    install(monkeypatch, distill)
    out = tmp_path / "new" / "static"
    assert main(["vectors", "distill", str(encoder), "--out", str(out), "--width", "3"]) == 0
    assert asked == {"model_name": str(encoder), "pca_dims": 3}
    assert f"try: regard train FILE --vectors {out}" in capsys.readouterr().out
    assert read_vectors(out, ["good"])[1].all()
    assert [path.name for path in out.parent.iterdir()] == ["static"]


def test_nothing_is_left_behind_if_it_fails(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def distill(**options: Any) -> Any:
        raise ValueError("no such architecture")

    install(monkeypatch, distill)
    assert main(["vectors", "distill", str(encoder), "--out", str(tmp_path / "static")]) == 2
    assert "cannot be distilled (no such architecture)" in capsys.readouterr().err
    assert not (tmp_path / "static").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{missing}", "--out", "{out}"], "expected the folder of a sentence-transformers model, got no folder"),
        (["{empty}", "--out", "{out}"], "with config.json and model.safetensors, got one without"),
        (["{encoder}", "--out", "{encoder}"], "expected a new folder, got one that exists; nothing was written"),
        (["{encoder}", "--out", "{out}", "--width", "0"], "width: expected 1 or more, got 0"),
        (["{encoder}", "--out", "{out}"], "needs model2vec, which is not installed: pip install 'regard[distill]'"),
    ],
)
def test_errors_are_one_sentence(
    encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.setitem(sys.modules, "model2vec", None)
    (tmp_path / "empty").mkdir()
    names = {"missing": tmp_path / "x", "empty": tmp_path / "empty", "encoder": encoder, "out": tmp_path / "static"}
    assert main(["vectors", "distill", *(one.format(**names) for one in arguments)]) == 2
    assert message in capsys.readouterr().err

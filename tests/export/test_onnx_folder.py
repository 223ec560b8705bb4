"""The folder of an ONNX export: what it holds, that the runtime answers from it as regard does, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from onnx_packages import MISSING
from test_onnx import made

import regard.runtime
from command import Regard
from regard import extras
from regard.cli import main
from regard.errors import InputError
from regard.explain.explain import explain
from regard.export import verification
from regard.export.onnx_folder import export_onnx
from regard.export.onnx_graph import make_graph
from regard.models.folder import load
from regard.models.trained import Trained
from tiny_bert import save_bert

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")


def test_a_difference_is_refused_and_nothing_is_written(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "WEIGHTS", -1.0)
    with pytest.raises(
        InputError, match=r"its weights in onnxruntime differ from PyTorch's by .*; nothing was written"
    ):
        export_onnx(load(run), run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def exported(run: Path) -> Path:
    out = run.parent / "exported"
    assert main(["export", str(run), "--format", "onnx", "--out", str(out)]) == 0
    return out


def test_the_folder_holds_graph_tokenizer_labels_card_and_facts(exported: Path, run: Path) -> None:
    import onnxruntime

    names = {"model.onnx", "tokenizer.json", "task.json", "README.md", "export.json", "manifest.json"}
    assert {path.name for path in exported.iterdir()} == names
    facts = json.loads((exported / "export.json").read_text(encoding="utf-8"))
    assert facts["format"] == "regard export 2"
    assert facts["graph"]["outputs"] == ["logits", "words", "sentences"]
    assert facts["graph"]["opset"] >= 18
    assert facts["versions"]["onnxruntime"] == onnxruntime.__version__
    assert facts["verified"]["texts"] == 200
    card = (exported / "README.md").read_text(encoding="utf-8")
    assert "regard.runtime.load(FOLDER)" in card
    assert "regard predict FOLDER" not in card
    assert (exported / "task.json").read_bytes() == (run / "task.json").read_bytes()


TEXTS = ["The staff were kind. The room was not clean!", "good", "", "zzqqy. xxyzz. Dirty dirty room"]


def test_the_runtime_answers_as_regard_does(exported: Path, run: Path) -> None:
    trained, runtime = load(run), regard.runtime.load(exported)
    expected = trained.answers(TEXTS)
    assert runtime.predict_proba(TEXTS) == pytest.approx(expected, abs=1e-5)
    assert [str(label) for label in runtime.predict(TEXTS)] == [one.value for one in trained.task.predictions(expected)]


def test_the_runtime_explains_as_regard_does(exported: Path, run: Path) -> None:
    runtime = regard.runtime.load(exported)
    for expected in explain(load(run), TEXTS, method="leave_one_out"):
        actual = runtime.explain(expected.text)
        assert (actual.method, actual.contribution_method) == ("attention_norm", "leave_one_out")
        assert actual.target == expected.target
        assert actual.note == expected.note
        pairs = [*zip(actual.tokens, expected.tokens, strict=True)]
        assert [(a.text, a.start, a.end, a.read_as) for a, _ in pairs] == [
            (b.text, b.start, b.end, b.read_as) for _, b in pairs
        ]
        pairs += [*zip(actual.sentences, expected.sentences, strict=True)]  # type: ignore[list-item]
        for a, b in pairs:
            assert a.weight == pytest.approx(b.weight, abs=1e-5)
            assert a.contribution == pytest.approx(b.contribution, abs=2e-5)
        assert [one.contribution for one in actual.repeated] == pytest.approx(
            [one.contribution for one in expected.repeated], abs=2e-5
        )
    assert not runtime.explain(TEXTS[0], contributions=False).is_signed


def test_a_flat_export_has_tables_and_contributions(flat_run: Path, tmp_path: Path) -> None:
    verified = export_onnx(load(flat_run), flat_run, tmp_path / "out")
    assert verified.contributions is not None
    assert verified.contributions <= 1e-5
    assert (tmp_path / "out" / "tables.safetensors").is_file()
    one, other = regard.runtime.load(tmp_path / "out"), regard.runtime.load(flat_run)
    assert one.explain(TEXTS[0]).as_dict() == other.explain(TEXTS[0]).as_dict()
    (tmp_path / "out" / "model.onnx").unlink()
    assert regard.runtime.load(tmp_path / "out").predict(["good"]).shape == (1,), "NumPy alone"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "regard export 1"}, "expected the format 'regard export 2', got 'regard export 1'"),
        ({"ids": 3}, "has ids = 3, but its other files"),
        ({"method": "magic"}, "method: expected attention or attention_norm"),
        ({"levels": 1}, "has levels = 1, but its other files 2"),
    ],
)
def test_a_folder_of_another_version_or_mixture_is_refused(
    exported: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    facts = json.loads((exported / "export.json").read_text(encoding="utf-8"))
    for path in exported.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "export.json").write_text(json.dumps({**facts, **change}), encoding="utf-8")
    with pytest.raises(InputError, match=r"export\.json has changed since it was saved"):
        regard.runtime.load(tmp_path)
    with pytest.raises(InputError, match=message):
        regard.runtime.load(tmp_path, verify=False)


def test_a_graph_that_does_not_fit_is_refused(exported: Path, tmp_path: Path) -> None:
    for path in exported.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(InputError, match="not an ONNX model that onnxruntime can read"):
        regard.runtime.load(tmp_path, verify=False)
    graph = make_graph(made(1, encoder="embedding", pooling="average"))
    (tmp_path / "model.onnx").write_bytes(graph.SerializeToString())
    with pytest.raises(InputError, match="expected the inputs"):
        regard.runtime.load(tmp_path, verify=False)


def test_bert_is_refused(regard: Regard, table: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    bert = save_bert(tmp_path / "bert")
    options = ("--encoder", "bert", "--pretrained", bert, "--epochs", "1", "--device", "cpu", "--task", "multiclass")
    assert regard("train", table, *options, "--out", tmp_path / "run").code == 0
    result = regard("export", tmp_path / "run", "--format", "onnx", "--out", tmp_path / "out")
    assert result.code == 2
    assert "expected a run whose encoder reads words, got encoder = 'bert'" in result.error
    assert not (tmp_path / "out").exists()


def test_other_files_are_not_overwritten(regard: Regard, run: Path) -> None:
    result = regard("export", run, "--format", "onnx", "--out", run)
    assert result.code == 2
    assert "expected a new folder, an empty one or an earlier export" in result.error


def test_missing_packages_are_named(regard: Regard, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "is_installed", lambda name: name != "onnxscript")
    result = regard("export", run, "--format", "onnx", "--out", tmp_path / "out")
    assert result.code == 2
    assert result.error == "--format onnx needs onnxscript, which is not installed: pip install 'regard[onnx]'"


def test_a_pooling_that_cannot_be_exported_says_why(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(trained: Trained) -> Any:
        raise RuntimeError("a data-dependent branch\nand more")

    monkeypatch.setattr("regard.export.onnx_graph.make_graph", fail)
    with pytest.raises(InputError, match=r"cannot export its .* to ONNX \(RuntimeError: a data-dependent branch\)"):
        export_onnx(load(run), run, tmp_path / "out")

"""The release file of results: complete, the same bytes for the same contents, and damage is noticed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "archive_results", Path(__file__).parents[1] / "tools/archive_results.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checkout(folder: Path) -> Path:
    for name, text in {
        "CITATION.cff": "version: 1.2.3\n",
        "experiments/rules.toml": "version = 1\n",
        "experiments/paper/table.jsonl": '{"seed": 0}\n',
        "experiments/paper/table.svg": "<svg/>",
        "experiments/paper/.table.jsonl.lock": "",
        "docs/notebooks/paper.ipynb": "{}",
        "docs/start.md": "# Start",
        "docs/evidence.md": "# Evidence\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_an_archive_of_the_same_contents_is_the_same_file(tool: ModuleType, tmp_path: Path) -> None:
    files = tool.contents(checkout(tmp_path))
    assert set(files) == {
        "CITATION.cff",
        "experiments/rules.toml",
        "experiments/paper/table.jsonl",
        "experiments/paper/table.svg",
        "docs/notebooks/paper.ipynb",
        "docs/evidence.md",
    }
    assert tool.pack(files, "x") == tool.pack(tool.contents(checkout(tmp_path)), "x")
    assert tool.version(tmp_path) == "1.2.3"


def test_damage_and_differences_are_noticed(tool: ModuleType, tmp_path: Path) -> None:
    root = checkout(tmp_path / "checkout")
    archive = tmp_path / "results.tar.gz"
    files = tool.contents(root)
    archive.write_bytes(tool.pack(files, "results-1"))
    assert tool.verify(archive, root) == []
    (root / "experiments/paper/table.jsonl").write_text("{}\n", encoding="utf-8")
    (root / "experiments/paper/new.toml").write_text("", encoding="utf-8")
    assert tool.verify(archive, root) == [
        "experiments/paper/new.toml: not in the archive",
        "experiments/paper/table.jsonl: differs",
    ]
    wrong = {**tool.unpack(archive), "docs/evidence.md": b"# Other\n"}
    sums = wrong.pop("SHA256SUMS")
    import io
    import tarfile

    with tarfile.open(archive, "w:gz") as damaged:
        for name, content in {**wrong, "SHA256SUMS": sums}.items():
            entry = tarfile.TarInfo(f"results-1/{name}")
            entry.size = len(content)
            damaged.addfile(entry, io.BytesIO(content))
    assert "results.tar.gz: SHA256SUMS does not match its files" in tool.verify(archive, root)


def test_everything_that_is_published_is_packed(tool: ModuleType) -> None:
    """All files of experiments/ that git could have, and what `make evidence` writes elsewhere."""
    root = Path(__file__).parents[1]
    names = set(tool.contents(root))
    for path in (root / "experiments").rglob("*"):
        hidden = path.name.startswith(".") or "__pycache__" in path.parts
        assert hidden or path.is_dir() or path.relative_to(root).as_posix() in names, path
    assert {path.suffix for path in map(Path, names)} >= {".jsonl", ".md", ".html", ".tex", ".svg", ".toml", ".ipynb"}
    pages = [path for path in (root / "docs").glob("*.md") if ": written by make evidence" in path.read_text("utf-8")]
    assert len(pages) >= 3
    assert {f"docs/{path.name}" for path in [*pages, root / "docs" / "evidence.md"]} <= names
    assert not any(name.endswith((".lock", ".pyc")) for name in names)

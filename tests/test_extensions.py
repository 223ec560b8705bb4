"""Commands of other packages: found by entry point, or by name without metadata; searched only if a command is unknown."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from regard import cli
from regard.extensions import GROUP, extra_commands

ROOT = Path(__file__).parent.parent


def test_the_laboratory_is_found_without_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: ())
    assert extra_commands() == {"reproduce": "regard_lab.command", "towers": "regard_lab.towers_command"}


def test_an_entry_point_adds_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = 'PURPOSE = "greet"\ndef add_arguments(parser): parser.add_argument("name")\n'
    (tmp_path / "greeting.py").write_text(code + 'def run(arguments): print("hello", arguments.name)\n')
    monkeypatch.syspath_prepend(tmp_path)
    point = importlib.metadata.EntryPoint("greet", "greeting", GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point] if group == GROUP else [])
    assert cli.main(["greet", "world"]) == 0
    assert capsys.readouterr().out == "hello world\n"
    assert {"greet", "reproduce"} <= set(extra_commands())


def test_built_in_commands_do_not_search_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def search() -> dict[str, str]:
        raise AssertionError("searched for extra commands")

    monkeypatch.setattr(cli, "extra_commands", search)
    for name in cli.COMMANDS:
        cli.make_parser([name])
    with pytest.raises(AssertionError, match="searched for"):
        cli.make_parser(["reproduce"])


@pytest.mark.slow
def test_a_wheel_lists_the_tables_outside_a_checkout(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    source = tmp_path / "source"  # a copy: a build leaves folders behind
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for pattern in ("src/**/*", "experiments/**/*.toml"):
        for path in filter(Path.is_file, ROOT.glob(pattern)):
            if "__pycache__" not in path.parts and ".egg-info" not in str(path):
                target = source / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    build = [*pip, "wheel", str(source), "--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", str(tmp_path)]
    subprocess.run(build, check=True, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "regard_lab/experiments/evidence.toml" in names
    assert not [name for name in names if name.endswith(".jsonl")]
    site = tmp_path / "site"
    install = [*pip, "install", "--no-deps", "--no-index", "--quiet", "--target", str(site), str(wheel)]
    subprocess.run(install, check=True)
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from regard.cli import main; sys.exit(main())"
    arguments = [sys.executable, "-I", "-c", code, str(site), "reproduce", "--list"]
    listed = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    tables = [f"{path.parent.name}/{path.stem}:" for path in ROOT.glob("experiments/*/*.toml")]
    assert sorted(line.split()[0] for line in listed.stdout.splitlines() if line[0] != " ") == sorted(tables)
    assert "published" not in listed.stdout

"""Scripts of `regard completion`, run in the shells that are installed."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

import pytest

from command import Regard
from regard.arguments import Parser
from regard.cli import COMMANDS, make_parser
from regard.completion import bash, fish, quoted, read_parser, zsh
from regard.encoders import ENCODERS
from regard.explain.explainers import EXPLAINERS
from regard.poolings import POOLINGS

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
# bash splits --option=value into three words
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_regard 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def parser() -> argparse.ArgumentParser:
    return make_parser()


@pytest.fixture(scope="module")
def script(parser: argparse.ArgumentParser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scripts") / "regard.bash"
    path.write_text(bash(read_parser(parser)), encoding="utf-8")
    return path


def complete(script: Path, folder: Path, *words: str) -> set[str]:
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH, "bash", script, "regard", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return set(done.stdout.split("\n")) - {""}


@needs_bash
def test_commands_options_and_values(script: Path, tmp_path: Path) -> None:
    assert complete(script, tmp_path, "") == {*COMMANDS, "reproduce", "towers", "--help", "--version"}
    assert complete(script, tmp_path, "e") == {"evaluate", "explain", "export"}
    assert complete(script, tmp_path, "export", "--f") == {"--format"}
    assert complete(script, tmp_path, "export", "--format", "") == {"onnx", "page"}
    assert complete(script, tmp_path, "export", "--format", "=", "o") == {"onnx"}
    assert complete(script, tmp_path, "export", "--format", "=") == {"onnx", "page"}
    assert complete(script, tmp_path, "train", "--vtw-m") == {"--vtw-mapped"}, "an advanced option"
    assert complete(script, tmp_path, "train", "--no-low") == {"--no-lowercase"}
    assert complete(script, tmp_path, "train", "--epochs", "") == set()
    assert complete(script, tmp_path, "completion", "") == {"bash", "zsh", "fish"}
    assert "--explainers" not in complete(script, tmp_path, "audit", "--"), "the old name of an option"


@needs_bash
def test_names_of_models_and_explainers(script: Path, tmp_path: Path) -> None:
    assert complete(script, tmp_path, "train", "--encoder", "") == set(ENCODERS)
    assert complete(script, tmp_path, "train", "--pooling", "") == set(POOLINGS)
    assert complete(script, tmp_path, "explain", "run", "text", "--method", "") == set(EXPLAINERS)


@needs_bash
def test_runs_are_folders_and_texts_are_files(script: Path, tmp_path: Path) -> None:
    (tmp_path / "a run").mkdir()
    (tmp_path / "a table.csv").touch()
    assert complete(script, tmp_path, "report", "a") == {"a run"}
    assert complete(script, tmp_path, "report", "run", "--data", "a") == {"a run", "a table.csv"}
    assert complete(script, tmp_path, "train", "a t") == {"a table.csv"}
    assert complete(script, tmp_path, "report", "--target", "a") == set()


@needs_bash
def test_every_option_that_a_command_accepts_is_completed(
    script: Path, tmp_path: Path, parser: argparse.ArgumentParser
) -> None:
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for name, child in commands.choices.items():
        assert isinstance(child, Parser)
        old = {"--explainers"} if name == "audit" else set()
        assert complete(script, tmp_path, name, "-") == set(child._option_string_actions) - old


@pytest.mark.parametrize(("shell", "make"), [("bash", bash), ("zsh", zsh), ("fish", fish)])
def test_the_command_prints_the_script_and_the_shell_can_read_it(
    regard: Regard, parser: argparse.ArgumentParser, tmp_path: Path, shell: str, make: object
) -> None:
    result = regard("completion", shell)
    assert result.code == 0
    assert callable(make)
    assert result.out == make(read_parser(parser))
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(result.out, encoding="utf-8")
    done = subprocess.run([shell, "-n", path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(parser: argparse.ArgumentParser, tmp_path: Path) -> None:
    (tmp_path / "regard.fish").write_text(fish(read_parser(parser)), encoding="utf-8")
    (tmp_path / "runs").mkdir()
    (tmp_path / "rows.csv").touch()

    def answers(line: str) -> set[str]:
        code = f"source regard.fish; complete -C {quoted(line, fish=True)}"
        done = subprocess.run(["fish", "--no-config", "-c", code], cwd=tmp_path, capture_output=True, text=True)
        return {answer.partition("\t")[0] for answer in done.stdout.splitlines()}

    assert answers("regard ex") == {"explain", "export"}
    assert answers("regard export --format ") == {"onnx", "page"}
    assert answers("regard train --no-low") == {"--no-lowercase"}
    assert answers("regard report r") == {"runs/"}
    assert answers("regard train ro") == {"rows.csv"}


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes(parser: argparse.ArgumentParser, tmp_path: Path) -> None:
    """`compadd` and its relatives work in an editor only: here they print what they were given."""
    (tmp_path / "regard.zsh").write_text(zsh(read_parser(parser)), encoding="utf-8")

    def answers(*words: str) -> str:
        shell = 'compdef() { }; compadd() { print -- "$@" }; _files() { print files "$@" }; _describe() { print -l -- $commands }'
        line = " ".join(quoted(word) for word in words)
        code = f"{shell}; source regard.zsh; words=(regard {line}); CURRENT=$#words; _regard"
        done = subprocess.run(["zsh", "-f", "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert done.stderr == ""
        return done.stdout

    assert "predict:predict the labels of texts with a trained model\n" in answers("")
    assert answers("export", "--format", "") == "-- onnx page\n"
    assert "--no-lowercase" in answers("train", "--no")
    assert answers("report", "") == "files -/\n"
    assert answers("train", "") == "files\n"


def test_quotes_in_help_texts_do_not_end_a_string() -> None:
    assert quoted("a run's \\ file") == "'a run'\\''s \\ file'"
    assert quoted("a run's \\ file", fish=True) == "'a run\\'s \\\\ file'"


def test_another_shell_is_one_sentence(regard: Regard) -> None:
    result = regard("completion", "tcsh")
    assert result.code == 2
    assert "tcsh" in result.error

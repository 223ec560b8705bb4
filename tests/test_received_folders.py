"""A run folder from a stranger: nothing outside it is read or written, and nothing in it hangs a command."""

from __future__ import annotations

import os
import shutil
import socket
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import regard as package
from command import TINY, Regard, write_csv
from regard import files, runtime
from regard.errors import InputError
from regard.models.folder import load
from regard.models.run_files import MANIFEST

SECRET = "zebrafish"


@pytest.fixture(scope="module")
def trained(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the fast engine, with test texts."""
    from regard.cli import main

    folder = tmp_path_factory.mktemp("received")
    for split in ("train", "test"):
        shutil.copy(table, folder / f"{split}.csv")
    words = ["train", str(folder / "train.csv"), "--test", str(folder / "test.csv"), *TINY, "--keep-texts", "3"]
    assert main([*words, "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture
def received(trained: Path, tmp_path: Path) -> Path:
    shutil.copytree(trained, tmp_path / "received")
    return tmp_path / "received"


def as_link(path: Path) -> None:
    target = path.parent.parent / "target"
    target.write_text("untouched")
    path.symlink_to(target)


def as_folder_link(path: Path) -> None:
    (path.parent.parent / "outside").mkdir()
    path.symlink_to(path.parent.parent / "outside")


def as_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = os.getcwd()
        os.chdir(path.parent)  # the path of a socket is short
        one.bind(path.name)
        os.chdir(here)


PLANTED: dict[str, Callable[[Path], Any]] = {
    "a symbolic link": as_link,
    "a pipe": os.mkfifo,
    "a socket": as_socket,
}
NAMES = ("report.html", ".report.html.partial", "README.md", "encoder.json", ".lock", "task.json", "anything")


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_a_plain_file_is_refused(received: Path, table: Path, regard: Regard, name: str, kind: str) -> None:
    (received / name).unlink(missing_ok=True)
    PLANTED[kind](received / name)
    for words in (
        ("predict", received, "good"),
        ("report", received, "--data", table),
        ("train", table, *TINY, "--out", received, "--overwrite"),
        ("train", table, "--from", received, "--out", received.parent / "new"),
    ):
        result = regard(*words)
        assert result.code == 2
        assert f"{received / name}: expected a plain file, got {kind}" in result.error
    target = received.parent / "target"
    assert not target.exists() or target.read_text() == "untouched"


@pytest.mark.parametrize(("command", "name"), [("audit", "audit"), ("analyse", "analysis")])
def test_a_linked_folder_is_not_written_to(
    received: Path, table: Path, regard: Regard, command: str, name: str
) -> None:
    as_folder_link(received / name)
    result = regard(command, received, "--data", table)
    assert f"{received / name}: expected a plain file, got a symbolic link" in result.error
    assert not list((received.parent / "outside").iterdir())
    (received / name).unlink()
    (received / name).mkdir()
    as_link(received / name / "audit.json")
    assert "audit.json: expected a plain file" in regard("report", received, "--data", table).error


def test_other_ways_to_load_refuse_links(received: Path) -> None:
    as_link(received / "report.html")
    for function in (package.load, runtime.load, load):
        with pytest.raises(InputError, match="got a symbolic link"):
            function(received)


def test_a_link_to_the_run_itself_is_the_users(received: Path, regard: Regard) -> None:
    (received.parent / "link").symlink_to(received)
    assert regard("predict", received.parent / "link", "good").code == 0


def test_outputs_that_the_user_names_may_be_links(received: Path, table: Path, regard: Regard, tmp_path: Path) -> None:
    (tmp_path / "page.html").symlink_to(tmp_path / "elsewhere.html")
    (tmp_path / "elsewhere.html").write_text("")
    assert regard("report", received, "--data", table, "--out", tmp_path / "page.html").code == 0
    assert (tmp_path / "page.html").is_symlink()
    assert "<html" in (tmp_path / "elsewhere.html").read_text()
    assert regard("predict", received, "good", "--out", os.devnull, "--format", "jsonl").code == 0


def test_the_cache_of_the_hub_has_links_within_itself(received: Path, tmp_path: Path) -> None:
    snapshot, blobs = tmp_path / "models--a--b" / "snapshots" / "0123", tmp_path / "models--a--b" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, path in enumerate(sorted(received.iterdir())):
        shutil.copy(path, blobs / str(number))
        (snapshot / path.name).symlink_to(f"../../blobs/{number}")
    load(snapshot)
    (blobs / "out").symlink_to(received / "task.json")
    (snapshot / "more").symlink_to("../../blobs/out")
    with pytest.raises(InputError, match="got a symbolic link"):
        load(snapshot)


def test_temporary_names_are_new_and_random(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    real = os.open

    def opened(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if ".partial" in str(path):
            names.append(Path(path).name)
            assert flags & os.O_EXCL
            assert flags & os.O_NOFOLLOW
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", opened)
    for _ in range(2):
        files.write(tmp_path / "page.html", "content")
    assert len(set(names)) == 2
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        files.create(tmp_path / "dangling")
    assert not (tmp_path / "nowhere").exists()


# Data that a run names


def with_option(folder: Path, name: str, value: object) -> None:
    """Change the options of a run, as its sender can, who writes the manifest too."""
    path = folder / "config.toml"
    lines = [line for line in path.read_text().splitlines() if not line.startswith(f"{name} = ")]
    table = {"hidden": "[model]", "class_weight": "[training]"}.get(name, "[data]")
    shown = f'"{value}"' if isinstance(value, str | Path) else value
    lines.insert(lines.index(table) + 1, f"{name} = {shown}")
    path.write_text("\n".join(lines))
    assert name in str(tomllib.loads(path.read_text()))
    from regard.models import manifest

    if (known := manifest.read_manifest(folder)) is not None:
        listed = {**known[0], "config.toml": manifest.of_file(path)}
        (folder / MANIFEST).write_bytes(manifest.to_bytes(listed, known[1]))


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    rows = [
        (f"{SECRET} dear diary", "1"),
        (f"{SECRET} again", "2"),
        *((f"the film was good and the food {n}", str(n)) for n in (3, 4, 5)),
    ]
    return write_csv(tmp_path / "diary.csv", rows)


@pytest.mark.parametrize("option", ["test", "dev", "train"])
def test_data_that_a_run_names_are_not_read(received: Path, diary: Path, regard: Regard, option: str) -> None:
    if option == "dev":
        lines = (received / "config.toml").read_text().splitlines()
        (received / "config.toml").write_text("\n".join(line for line in lines if not line.startswith("test = ")))
    with_option(received, option, diary)
    command = "analyse" if option == "train" else "report"
    result = regard(command, received)
    sentence = (
        f"{diary} is not the file that the run had as its {option} texts; pass --data {diary} to use it as it is now"
    )
    if option == "dev":
        sentence = (
            f"the run names {diary} as its dev texts, but does not say what they were; pass --data {diary} to use them"
        )
    assert sentence in " ".join(result.err.split())
    pages = [path.read_text() for path in received.rglob("*.html")]
    assert SECRET not in result.out + result.err.replace(str(diary), "") + "".join(pages)
    assert regard(command, received, "--data", diary).code == 0


def test_data_of_the_run_itself_are_used(trained: Path, regard: Regard, tmp_path: Path) -> None:
    assert regard("analyse", trained, "--out", tmp_path / "analysis").code == 0
    assert regard("report", trained, "--out", tmp_path / "page.html").code == 0
    assert "test.csv" in (tmp_path / "page.html").read_text()


def test_an_old_run_asks_for_data(received: Path, regard: Regard) -> None:
    (received / MANIFEST).unlink()
    assert regard("predict", received, "good").code == 0
    assert "does not say what they were; pass --data" in regard("analyse", received).error
    result = regard("report", received)
    assert result.code == 0
    assert "pass --data" in " ".join(result.err.split())


def test_an_audit_does_not_read_named_training_texts(received: Path, diary: Path, regard: Regard) -> None:
    """How many of the audited texts are among them would say what is in the file."""
    with_option(received, "train", diary)
    texts = write_csv(diary.with_name("texts.csv"), [(f"{SECRET} dear diary", "1"), (f"{SECRET} again", "2")] * 3)
    result = regard("audit", received, "--data", texts, "--method", "gradient", "--json")
    assert result.code == 0
    assert "word for word" not in result.out


@pytest.mark.parametrize(
    ("option", "commands"), [("vectors", ("train", "doubts")), ("class_weight", ("train", "doubts"))]
)
def test_other_files_that_a_run_names(
    received: Path, table: Path, regard: Regard, option: str, commands: tuple[str, ...]
) -> None:
    secret = received.parent / "secret.txt"
    secret.write_text(f"{SECRET} 1 2 3 4 5 6 7 8\n")
    with_option(received, option, secret)
    words: dict[str, tuple[object, ...]] = {
        "train": ("train", table, "--from", received, "--out", received.parent / "new"),
        "doubts": ("doubts", received, "--data", table),
    }
    for command in commands:
        result = regard(*words[command])
        assert f"{option}: the run names {secret}" in result.error
        assert f"pass --{option.replace('_', '-')} {secret}" in result.error


# Sizes


def test_sizes_are_checked_before_reading(received: Path, regard: Regard) -> None:
    (received / MANIFEST).unlink()
    os.truncate(received / "task.json", 1 << 40)
    assert "task.json: expected at most 16 MB, got 1,048,576 MB" in regard("predict", received, "good").error


def test_options_allocate_nothing_before_the_weights_are_compared(run: Path, regard: Regard, tmp_path: Path) -> None:
    folder = tmp_path / "large"
    shutil.copytree(run, folder)
    with_option(folder, "hidden", 40_000)
    lines = (folder / "config.toml").read_text().replace('encoder = "embedding"', 'encoder = "bilstm"')
    (folder / "config.toml").write_text(lines)
    (folder / MANIFEST).unlink()
    assert "weights.safetensors: levels.0.encoder" in regard("predict", folder, "good").error

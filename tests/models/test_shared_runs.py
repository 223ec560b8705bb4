"""Runs on the Hugging Face hub: uploading, downloading, and what is refused. The hub is a server on this machine, the client
is the real library."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub")

from huggingface_hub import constants, file_download, utils

from command import Regard, write_csv
from hub_server import READER, TOKEN, Hub, serving
from regard import load, runtime
from regard.cli import main
from regard.models import hub as hub_module
from regard.models.hub import HubAddress, parse_address
from regard.models.run_files import DYNAMICS, FILES, KEPT, MANIFEST, OPTIMIZER

# of the library about its HTTP client
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")
ROWS = [(f"a {word} film number {row}", label) for word, label in (("good", "yes"), ("bad", "no")) for row in range(40)]
TEXTS = ["a good film", "a bad film", "nothing known"]


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("secret-project") / "films.csv", ROWS)


@pytest.fixture(scope="module")
def flat(films: Path) -> Path:
    """A finished run of the fast engine, with an audit and other files next to the model."""
    folder = films.parent / "run"
    assert main(["train", str(films), "--epochs", "3", "--keep-texts", "5", "--out", str(folder)]) == 0
    (folder / "audit").mkdir()
    (folder / "audit" / "audit.json").write_text('{"text": "a good film number 1"}', encoding="utf-8")
    (folder / "report.html").write_text("a good film number 1", encoding="utf-8")
    (folder / "films.csv").write_bytes(films.read_bytes())
    assert (folder / KEPT).is_file()
    return folder


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The library reads HF_ENDPOINT and others once, when it is imported; `test_with_environment_variables` sets them."""
    with serving() as server:
        use_endpoint(server.url, monkeypatch)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True, raising=False)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.chdir(tmp_path)
        reset_sessions()
        yield server
    reset_sessions()


def reset_sessions() -> None:
    """Older versions of the library keep connections that know whether it is offline."""
    getattr(utils, "reset_sessions", lambda: None)()


def use_endpoint(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", url)
    for module in (constants, file_download):  # older versions of the library have copies
        template = url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(module, "HUGGINGFACE_CO_URL_TEMPLATE", template, raising=False)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name in hub_module.LARGEST}


def test_a_run_comes_back_as_it_was(hub: Hub, flat: Path, regard: Regard) -> None:
    done = regard("push", flat, "me/films")
    assert done.code == 0, done.err
    assert "private" in done.out
    assert "weights.safetensors" in done.out
    repository = hub.repositories["me/films"]
    assert repository.private
    original = load(flat).predict_proba(TEXTS)
    loaded = load("hf://me/films")
    assert (loaded.predict_proba(TEXTS) == original).all()
    assert [word.text for word in loaded.explain(TEXTS[0]).top(1)] == ["good"]
    assert (load(f"hf://me/films@{repository.branches['main']}").predict_proba(TEXTS) == original).all()
    assert regard("predict", "hf://me/films", "a good film", "--format", "jsonl").out.count("yes") >= 1
    assert runtime.load("hf://me/films").predict(TEXTS[:2]).tolist() == ["yes", "no"]


def test_only_the_files_of_the_model_are_uploaded(hub: Hub, flat: Path, films: Path, regard: Regard) -> None:
    assert regard("push", flat, "me/films").code == 0
    files = hub.repositories["me/films"].files
    assert set(files) == {".gitattributes", "README.md", MANIFEST, OPTIMIZER, *FILES}
    for name, content in files.items():
        assert b"film number 1" not in content, name
        assert b"secret-project" not in content, name
    assert files["weights.safetensors"] == (flat / "weights.safetensors").read_bytes()
    card = files["README.md"].decode()
    assert card.startswith("---\nlibrary_name: regard\npipeline_tag: text-classification\ntags:\n")
    assert 'regard.load("hf://me/films")' in card
    assert "FOLDER texts.csv" not in card
    assert "films.csv" in card


def test_public_must_be_asked_for(hub: Hub, flat: Path, regard: Regard) -> None:
    assert regard("push", flat, "me/open", "--public").code == 0
    assert not hub.repositories["me/open"].private
    before = hub.repositories["me/open"].files
    refused = regard("push", flat, "me/open")
    assert refused.code == 2
    assert refused.error == (
        "me/open: this repository is public; pass --public, or change its visibility on the hub; nothing was uploaded"
    )
    assert regard("push", flat, "me/closed").code == 0
    refused = regard("push", flat, "me/closed", "--public")
    assert refused.code == 2
    assert "this repository is private; leave out --public" in refused.error
    assert hub.repositories["me/open"].files is before


def test_a_second_upload_replaces_the_first(hub: Hub, flat: Path, regard: Regard) -> None:
    hub.add("me/films", {**files_of(flat), DYNAMICS: b"old", ".gitattributes": b""}, private=True)
    assert regard("push", flat, "me/films").code == 0
    assert DYNAMICS not in hub.repositories["me/films"].files
    assert len(hub.repositories["me/films"].commits) == 2, "one commit per upload"


def test_other_repositories_are_not_overwritten(hub: Hub, flat: Path, regard: Regard) -> None:
    hub.add("me/other", {"README.md": b"# mine", "pytorch_model.bin": b"weights"}, private=True)
    refused = regard("push", flat, "me/other")
    assert refused.code == 2
    assert "expected an empty repository or a run of regard" in refused.error
    assert "'pytorch_model.bin'" in refused.error
    assert len(hub.repositories["me/other"].commits) == 1


def test_a_branch_is_created_and_can_be_loaded(hub: Hub, flat: Path, regard: Regard) -> None:
    assert regard("push", flat, "me/films").code == 0
    assert regard("push", flat, "me/films", "--revision", "second").code == 0
    repository = hub.repositories["me/films"]
    assert set(repository.branches) == {"main", "second"}
    assert repository.branches["main"] != repository.branches["second"]
    assert load("hf://me/films@second").predict(TEXTS[:2]).tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        (None, "uploading needs a token of the hub; log in with `hf auth login` or set HF_TOKEN"),
        (READER, "the hub refuses access (403); log in"),
        ("hf_nobody", "the hub refuses access (403); log in"),
    ],
)
def test_uploading_needs_permission(
    hub: Hub, flat: Path, regard: Regard, monkeypatch: pytest.MonkeyPatch, token: str | None, sentence: str
) -> None:
    if token is None:
        monkeypatch.delenv("HF_TOKEN")
    else:
        monkeypatch.setenv("HF_TOKEN", token)
    refused = regard("push", flat, "me/films")
    assert refused.code == 2
    assert sentence in refused.error
    assert not hub.repositories


@pytest.mark.parametrize("name", ["films", "me/films/x", "me/", "hf://me/films", "../x", "me/fi lms", ""])
def test_names_of_repositories_are_checked(hub: Hub, flat: Path, regard: Regard, name: str) -> None:
    refused = regard("push", flat, name)
    assert refused.code == 2
    assert not [request for request in hub.requests if request.startswith("POST")]


def test_only_a_finished_local_run_is_uploaded(hub: Hub, films: Path, regard: Regard) -> None:
    refused = regard("push", films.parent / "nothing", "me/films")
    assert (refused.code, "there is no such folder" in refused.error) == (2, True)
    refused = regard("push", "hf://me/films", "me/copy")
    assert (refused.code, "got an address on the hub" in refused.error) == (2, True)
    assert not hub.requests


def test_a_commit_in_the_cache_needs_no_connection(hub: Hub, flat: Path) -> None:
    commit = hub.add("me/films", files_of(flat)).branches["main"]
    load(f"hf://me/films@{commit}")
    asked = len(hub.requests)
    hub.failing = 503
    load(f"hf://me/films@{commit}")
    assert len(hub.requests) == asked


@pytest.mark.parametrize("how", ["server down", "server fails", "offline mode"])
def test_without_a_connection_the_cache_is_used(
    hub: Hub, flat: Path, regard: Regard, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    hub.add("me/films", files_of(flat))
    hub.add("me/others", files_of(flat))
    expected = load("hf://me/films").predict(TEXTS).tolist()
    if how == "server fails":
        hub.failing = 503
    elif how == "offline mode":
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        reset_sessions()
    else:
        use_endpoint("http://127.0.0.1:9", monkeypatch)
    assert load("hf://me/films").predict(TEXTS).tolist() == expected
    refused = regard("explain", "hf://me/others", "a good film")
    assert refused.code == 2
    assert refused.error.startswith("hf://me/others: ")
    sentence = {
        "server fails": "the hub answered with status 503",
        "server down": "the hub cannot be reached",
        "offline mode": "not in the cache, and HF_HUB_OFFLINE is set",
    }[how]
    assert sentence in refused.error


def test_a_moved_branch_is_downloaded_again(hub: Hub, flat: Path) -> None:
    repository = hub.add("me/films", files_of(flat))
    first = load("hf://me/films")
    swapped = {**files_of(flat), "task.json": files_of(flat)["task.json"].replace(b'"yes"', b'"fine"')}
    del swapped[MANIFEST]
    assert swapped["task.json"] != files_of(flat)["task.json"]
    pinned = repository.branches["main"]
    repository.commit(swapped)
    assert "fine" in load("hf://me/films").classes_
    assert set(load(f"hf://me/films@{pinned}").classes_) == set(first.classes_) == {"yes", "no"}


def test_what_is_not_there_is_one_sentence(
    hub: Hub, flat: Path, regard: Regard, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("me/films", files_of(flat))
    hub.add("me/secret", files_of(flat), private=True)
    hub.add("me/gated", files_of(flat), gated=True)
    hub.add("me/empty", {"README.md": b"# nothing yet"})
    monkeypatch.delenv("HF_TOKEN")
    for address, sentence in {
        "hf://me/nothing": "not found on the hub, or private; check the name, or log in",
        "hf://me/secret": "not found on the hub, or private; check the name, or log in",
        "hf://me/gated": "the hub gives access on request only",
        "hf://me/films@other": "the hub has no such revision; expected a branch, a tag or a commit",
        f"hf://me/films@{'0' * 40}": "the hub has no such revision",
        "hf://me/empty": "not a finished run of regard: config.toml, tokenizer.json",
    }.items():
        refused = regard("predict", address, "a good film")
        assert refused.code == 2
        assert refused.error.startswith(f"{address}: {sentence}"), refused.error
    monkeypatch.setenv("HF_TOKEN", READER)
    assert load("hf://me/secret").predict(TEXTS[:1]).tolist() == ["yes"]


@pytest.mark.parametrize(
    "address",
    [
        "hf://",
        "hf://films",
        "hf://me/films/x",
        "hf://me/films@",
        "hf://me/films@-x",
        "hf:///films",
        "hf://me/..",
        "hf://me/f@../x",
    ],
)
def test_malformed_addresses_are_refused(hub: Hub, regard: Regard, address: str) -> None:
    refused = regard("predict", address, "a good film")
    assert refused.code == 2
    assert refused.error == f"{address}: expected hf://USER/NAME or hf://USER/NAME@REVISION"
    assert not hub.requests


def test_addresses_are_read() -> None:
    assert parse_address("hf://me/films") == HubAddress("me/films", None)
    assert parse_address("hf://me/films@v1.0") == HubAddress("me/films", "v1.0")
    assert parse_address("hf://me/films@refs/pr/1") == HubAddress("me/films", "refs/pr/1")
    assert str(parse_address("hf://me/films@v1.0")) == "hf://me/films@v1.0"


def test_a_hostile_repository_writes_nothing_else(hub: Hub, flat: Path, tmp_path: Path) -> None:
    class Exploit:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {tmp_path / 'exploited'}",)

    hostile = {
        "../../../outside.txt": b"x",
        "..\\outside.txt": b"x",
        "/etc/outside.txt": b"x",
        "model.pkl": pickle.dumps(Exploit()),
        "pytorch_model.bin": pickle.dumps(Exploit()),
        "regard.py": b"raise SystemExit('code was run')",
        "sub/weights.safetensors": b"x",
        "checkpoint.safetensors": b"x",
    }
    commit = hub.add("me/films", {**files_of(flat), **hostile}).branches["main"]
    assert load("hf://me/films").predict(TEXTS[:2]).tolist() == ["yes", "no"]
    snapshot = next((tmp_path / "cache").rglob(commit))
    assert {path.name for path in snapshot.iterdir()} == {"README.md", MANIFEST, OPTIMIZER, *FILES}
    fetched = {request.rpartition("/")[2] for request in hub.requests if "/resolve/" in request}
    assert fetched == {"README.md", MANIFEST, OPTIMIZER, *FILES}
    assert not [path for path in tmp_path.rglob("*") if path.name in ("outside.txt", "exploited", "model.pkl")]


def test_damaged_files_are_one_sentence(hub: Hub, flat: Path, regard: Regard) -> None:
    for name in FILES:
        hub.add("me/bad", {**files_of(flat), name: pickle.dumps({"not": "a run"})})
        refused = regard("predict", "hf://me/bad", "a good film")
        assert refused.code == 2
        assert refused.error.startswith("hf://me/bad@"), refused.error
        assert "damaged run" in refused.error


def test_sizes_are_limited_before_anything_is_downloaded(hub: Hub, flat: Path, regard: Regard) -> None:
    hub.add("me/films", files_of(flat))
    hub.sizes["config.toml"] = 3 << 20
    refused = regard("predict", "hf://me/films", "a good film")
    assert (refused.code, refused.error) == (2, "hf://me/films: config.toml: expected at most 1 MB, got 3 MB")
    assert not [request for request in hub.requests if "/resolve/" in request]


def test_recorded_paths_of_another_machine_are_not_read(hub: Hub, flat: Path, films: Path, regard: Regard) -> None:
    hub.add("me/films", files_of(flat))  # not cleaned: its config names a file that exists here
    assert str(films) in files_of(flat)["config.toml"].decode()
    refused = regard("analyse", "hf://me/films")
    assert refused.code == 2
    assert "pass texts with --data" in refused.error


def test_commands_write_into_the_current_folder(
    hub: Hub, flat: Path, films: Path, regard: Regard, tmp_path: Path
) -> None:
    hub.add("me/films", files_of(flat))
    for command in (
        ("evaluate", "hf://me/films", films, "--json"),
        ("explain", "hf://me/films", "a good film", "--beside", flat),
        ("analyse", "hf://me/films", "--data", films),
        ("report", "hf://me/films", "--data", films),
        ("export", "hf://me/films", "--format", "page", "--out", tmp_path / "page.html"),
    ):
        done = regard(*command)
        assert done.code == 0, done.err
    assert (tmp_path / "analysis").is_dir()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "hf://me/films" in page
    changed = [path for path in (tmp_path / "cache").rglob("*") if path.suffix == ".html" or path.name == "analysis"]
    assert not changed


def test_an_audit_leaves_the_cache_as_it_is(hub: Hub, flat: Path, films: Path, regard: Regard, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    commit = hub.add("me/films", files_of(flat)).branches["main"]
    done = regard("audit", "hf://me/films", "--data", films, "--limit", "8", "--method", "leave_one_out")
    assert done.code == 0, done.err
    assert (tmp_path / "audit" / "audit.json").is_file()
    snapshot = next((tmp_path / "cache").rglob(commit))
    assert (snapshot / "README.md").read_bytes() == files_of(flat)["README.md"]


def test_a_served_run_stays_at_its_commit(hub: Hub, flat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker process that is started later loads what the first one has loaded."""
    from regard.serve import serve as serving_module

    repository = hub.add("me/films", files_of(flat))
    served: dict[str, object] = {}
    monkeypatch.setattr(serving_module, "serve", lambda *arguments: served.update(arguments=arguments))
    assert main(["serve", "hf://me/films", "--port", "0"]) == 0
    folders, load_served = served["arguments"][:2]  # type: ignore[index]
    assert folders == ["hf://me/films"]
    swapped = files_of(flat)["task.json"].replace(b'"yes"', b'"fine"')
    repository.commit({**files_of(flat), "task.json": swapped})
    load_served = pickle.loads(pickle.dumps(load_served))  # as it is sent to another process
    assert set(load_served("hf://me/films").task.classes) == {"yes", "no"}


def test_with_environment_variables(flat: Path, tmp_path: Path) -> None:
    """A process of its own, configured as users configure it."""
    with serving() as server:
        environment = {
            **os.environ,
            "HF_ENDPOINT": server.url,
            "HF_HOME": str(tmp_path / "home"),
            "HF_TOKEN": TOKEN,
            "HF_HUB_DISABLE_XET": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        for arguments in (["push", str(flat), "me/films"], ["explain", "hf://me/films", "a good film"]):
            command = [sys.executable, "-m", "regard", *arguments]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert TOKEN not in done.stdout + done.stderr
        assert (tmp_path / "home" / "hub" / "models--me--films").is_dir()
        assert server.repositories["me/films"].private

"""Upload a run to the Hugging Face hub, as one commit: the model, its vocabulary, options, measures and card.

Paths in the options are reduced to file names, because they describe the machine of the training run.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from regard.config import Config, config_toml
from regard.errors import InputError
from regard.markdown_text import escape
from regard.models import manifest
from regard.models.folder import load
from regard.models.hub import LOG_IN, REPOSITORY, HubAddress, hub_error, import_hub, quiet_in_pipes
from regard.models.run_files import CARD, DYNAMICS, ENCODER, FILES, LARGEST, MANIFEST, OPTIMIZER, check_size
from regard.models.saving import USAGE, card
from regard.models.tasks import Named
from regard.models.trained import Trained

PATHS = ("train", "dev", "test", "vectors", "pretrained")  # options that name files
HARMLESS = (".gitattributes", CARD)  # what an empty repository may have


class Upload(NamedTuple):
    """What is uploaded, and where to."""

    address: HubAddress
    files: dict[str, Path | bytes]
    public: bool

    def size(self, name: str) -> int:
        content = self.files[name]
        return len(content) if isinstance(content, bytes) else content.stat().st_size


class Pushed(NamedTuple):
    address: HubAddress  # with the commit
    url: str


def prepare(folder: Path, name: str, public: bool = False, revision: str | None = None, verify: bool = True) -> Upload:
    """The files of a finished run that would be uploaded to the repository `name`; the hub is not asked."""
    if not REPOSITORY.fullmatch(name):
        raise InputError(f"{name}: expected the name of a repository on the hub, USER/NAME")
    address = HubAddress(name, revision)
    trained = load(folder, verify=verify)  # nothing is uploaded that cannot be loaded
    files: dict[str, Path | bytes] = {file: folder / file for file in FILES}
    files |= {file: folder / file for file in (DYNAMICS, ENCODER, OPTIMIZER) if (folder / file).is_file()}
    shared = without_paths(trained.config)
    files["config.toml"] = config_toml(shared).encode("utf-8", "replace")
    contents = {name: content for name, content in files.items() if isinstance(content, bytes)}
    listed = {name: manifest.of_file(content) for name, content in files.items() if isinstance(content, Path)}
    # the digests of data files stay here: who has such a file could find out that it was trained on
    files[MANIFEST] = manifest.to_bytes(listed | manifest.of_contents(contents), {})
    files[CARD] = shared_card(folder, trained, shared, address).encode("utf-8", "replace")
    upload = Upload(address, files, public)
    for file in files:
        check_size(str(address), file, upload.size(file))  # as when it is downloaded
    return upload


def without_paths(config: Config) -> Config:
    """With file names in place of absolute paths. The names of corpora and of models on the hub stay as they are."""
    sections = (config.data, config.model)
    values = {name: getattr(section, name) for section in sections for name in PATHS if hasattr(section, name)}
    return config.override({name: shortened(value) for name, value in values.items() if value is not None})


def shortened(path: str) -> str:
    return PurePath(path).name if is_path(path) else path


def is_path(value: str) -> bool:
    return PurePath(value).is_absolute() or value.startswith((".", "~")) or Path(value).exists()


def shared_card(folder: Path, trained: Trained, shared: Config, address: HubAddress) -> str:
    """The card of the run with its address in place of FOLDER, and the header that the hub reads."""
    try:
        text = (folder / CARD).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = card(trained)
    for before, after in ((trained.config.data, shared.data), (trained.config.model, shared.model)):
        for name in PATHS:
            value = getattr(before, name, None)
            if value is not None and value != getattr(after, name):
                text = text.replace(escape(value), escape(getattr(after, name))).replace(value, getattr(after, name))
    usage = "\n".join(USAGE)
    text = text.replace(usage, usage.replace("load(FOLDER)", f'load("{address}")').replace("FOLDER", str(address)))
    if text.startswith("---"):  # the user has written a header
        return text
    model = trained.config.model
    tags = [
        "regard",
        "attention",
        "explainability",
        *{*model.encoder.split(","), *model.pooling.split(",")} - {"attention"},
    ]
    kind = "text-classification"
    header = ["library_name: regard", f"pipeline_tag: {kind}", "tags:", *(f"- {tag}" for tag in sorted(tags))]
    if not isinstance(trained.task, Named):
        header.append("- regression")
    return "\n".join(["---", *header, "---", "", text])


def push(upload: Upload) -> Pushed:
    """Create the repository if there is none, private unless the upload is public, and add all files in one commit."""
    hub = import_hub("regard push")
    where = str(upload.address)
    if hub.get_token() is None:
        raise InputError(f"{where}: uploading needs a token of the hub; {LOG_IN}")
    try:
        with quiet_in_pipes(hub):
            return commit(hub, upload)
    except InputError:
        raise
    except Exception as error:  # whatever the library, its HTTP client or the operating system raises
        raise hub_error(where, error) from None


def commit(hub: Any, upload: Upload) -> Pushed:
    api, (repo, revision) = hub.HfApi(), upload.address
    present = existing_files(api, upload)
    if present is None:
        api.create_repo(repo, private=not upload.public)
        present = set()
    if revision is not None:
        api.create_branch(repo, branch=revision, exist_ok=True)
    operations = [
        hub.CommitOperationAdd(
            path_in_repo=name, path_or_fileobj=content if isinstance(content, bytes) else str(content)
        )
        for name, content in upload.files.items()
    ]
    # left by a run that this one replaces
    operations += [
        hub.CommitOperationDelete(path_in_repo=name) for name in LARGEST if name in present - {*upload.files}
    ]
    done = api.create_commit(repo, operations, commit_message="Upload a run of regard", revision=revision)
    return Pushed(HubAddress(repo, done.oid), done.commit_url)


def existing_files(api: Any, upload: Upload) -> set[str] | None:
    """The files that the repository has; None if there is no repository. Refuses one that is not for this upload."""
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    repo, revision = upload.address
    try:
        info = api.model_info(repo)
    except RepositoryNotFoundError:
        return None
    if info.private == upload.public:
        visibility, advice = ("private", "leave out --public") if info.private else ("public", "pass --public")
        raise InputError(
            f"{repo}: this repository is {visibility}; {advice}, or change its visibility on the hub; nothing was uploaded"
        )
    if revision is not None:
        with suppress(RevisionNotFoundError):  # a new branch starts with the files of the default one
            info = api.model_info(repo, revision=revision)
    files = {file.rfilename for file in info.siblings or ()}
    others = sorted(files - {*LARGEST, *HARMLESS})
    if others or (files - {*HARMLESS} and not {*FILES} <= files):
        raise InputError(
            f"{repo}: expected an empty repository or a run of regard, got one with other files "
            f"({(others or sorted(files))[0]!r}); nothing was uploaded"
        )
    return files

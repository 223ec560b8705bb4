"""Runs on the Hugging Face hub, `hf://USER/NAME` or `hf://USER/NAME@REVISION`: which files are downloaded, and where to.

Only the files that a run has are asked for, by their names, so that a repository does not choose what is written here, and
none of them can run code. They are stored in the cache of huggingface_hub, one folder per commit.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import InputError
from regard.extras import import_extra
from regard.models.run_files import FILES, LARGEST, check_size

PREFIX = "hf://"
ADDRESS = re.compile(r"hf://(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>\w[\w./-]*))?", re.ASCII)
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}")
LOG_IN = "log in with `hf auth login` or set HF_TOKEN"


class HubAddress(NamedTuple):
    repo: str  # USER/NAME
    revision: str | None = None  # a branch, a tag or a commit; None: the default branch

    def __str__(self) -> str:
        return PREFIX + self.repo + ("" if self.revision is None else f"@{self.revision}")


def is_on_hub(source: str | PathLike[str]) -> bool:
    return isinstance(source, str) and source.startswith(PREFIX)


def parse_address(source: str) -> HubAddress:
    match = ADDRESS.fullmatch(source)
    if match is None or ".." in source:
        raise InputError(f"{source}: expected hf://USER/NAME or hf://USER/NAME@REVISION")
    return HubAddress(match["repo"], match["revision"])


def local_folder(source: str | PathLike[str]) -> Path:
    """The folder of a run: the source itself, or for an address on the hub the folder that its files were downloaded to."""
    return download(parse_address(str(source))) if is_on_hub(source) else Path(source)


def pinned(source: str) -> str:
    """The source; an address on the hub with the commit it refers to now, so that it can be loaded again unchanged."""
    if not is_on_hub(source):
        return source
    address = parse_address(source)
    return str(address._replace(revision=download(address).name))


def import_hub(purpose: str) -> Any:
    return import_extra("huggingface_hub", purpose)


def download(address: HubAddress) -> Path:
    """Download the files of a run, unless they are in the cache. A commit that is there is used without asking the hub."""
    hub = import_hub(str(address))
    stored = cached(hub, address)
    if stored is not None and COMMIT.fullmatch(stored.name) and stored.name == address.revision:
        return stored
    try:
        with quiet_in_pipes(hub):
            return fetch(hub, address)
    except InputError:
        raise
    except Exception as error:  # whatever the library, its HTTP client or the operating system raises
        if stored is not None and is_unreachable(error):
            return stored
        raise hub_error(str(address), error) from None


def cached(hub: Any, address: HubAddress) -> Path | None:
    """The folder of a complete download in the cache."""
    try:
        last = hub.try_to_load_from_cache(address.repo, [*LARGEST][-1], revision=address.revision)
    except ValueError as error:  # names that the hub does not allow
        raise InputError(f"{address}: {first_line(error)}") from None
    return Path(last).parent if isinstance(last, str) else None


def fetch(hub: Any, address: HubAddress) -> Path:
    info = hub.HfApi().model_info(address.repo, revision=address.revision, files_metadata=True)
    sizes = {file.rfilename: file.size for file in info.siblings or ()}
    missing = [name for name in FILES if name not in sizes]
    if missing:
        raise InputError(f"{address}: not a finished run of regard: {', '.join(missing)} missing")
    wanted = [name for name in LARGEST if name in sizes]
    for name in wanted:
        check_size(str(address), name, sizes[name])
    for name in wanted:
        path = Path(hub.hf_hub_download(address.repo, name, revision=info.sha))
        check_size(str(address), name, path.stat().st_size)
    if address.revision != info.sha:
        # records in the cache which commit the branch is at, for when the hub cannot be reached
        hub.hf_hub_download(address.repo, FILES[0], revision=address.revision)
    return path.parent


@contextmanager
def quiet_in_pipes(hub: Any) -> Iterator[None]:
    """No progress bars, unless somebody watches them."""
    if (sys.stderr is not None and sys.stderr.isatty()) or hub.utils.are_progress_bars_disabled():
        yield
        return
    hub.utils.disable_progress_bars()
    try:
        yield
    finally:
        hub.utils.enable_progress_bars()


def status(error: BaseException) -> int | None:
    """The HTTP status of the hub's answer; None if it did not answer."""
    code = getattr(getattr(error, "response", None), "status_code", None)
    return status(error.__cause__) if code is None and error.__cause__ is not None else code


def is_unreachable(error: Exception) -> bool:
    code = status(error)
    return code >= 500 if code is not None else not isinstance(error, ValueError)


def hub_error(where: str, error: Exception) -> InputError:
    """What went wrong on the way to the hub, in one sentence."""
    errors = import_extra("huggingface_hub.errors", where)
    code = status(error)
    if isinstance(error, errors.GatedRepoError):
        return InputError(f"{where}: the hub gives access on request only; ask for it on its page there, and {LOG_IN}")
    if isinstance(error, errors.RevisionNotFoundError):
        return InputError(f"{where}: the hub has no such revision; expected a branch, a tag or a commit")
    if isinstance(error, errors.RepositoryNotFoundError):
        return InputError(f"{where}: not found on the hub, or private; check the name, or {LOG_IN}")
    if code in (401, 403):
        return InputError(f"{where}: the hub refuses access ({code}); {LOG_IN}, with a token that has this permission")
    if isinstance(error, errors.OfflineModeIsEnabled):
        return InputError(f"{where}: not in the cache, and HF_HUB_OFFLINE is set; unset it to download the run")
    if code is not None:
        return InputError(f"{where}: the hub answered with status {code} ({first_line(error)})")
    if isinstance(error, ValueError):
        return InputError(f"{where}: {first_line(error)}")
    return InputError(f"{where}: the hub cannot be reached ({first_line(error)}); check the connection and HF_ENDPOINT")


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200].rstrip(".")

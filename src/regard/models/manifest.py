"""manifest.json: the SHA-256 of the files of a run, so that a flipped bit is noticed, and of the data that it was trained on.

It protects against damage and not against people: whoever can change a file can change the manifest too. The model card is
left out, because people and `regard audit` edit it. Runs of earlier versions have no manifest, and load without.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path

from regard.errors import InputError
from regard.models.run_files import FILES, KEPT, MANIFEST, OPTIONAL, read_json

FORMAT = "regard manifest 1"
LISTED = (*FILES, *OPTIONAL)
SPARED = {KEPT}  # a run may be given away without it
THREADS = 2  # the largest files are the weights and the optimiser's sums
PIECE = 1 << 26  # bytes mapped and hashed at once: between pieces, a thread waits for Python's lock
MOST_FILES = 1_000_000  # of a folder of data
HEX = set("0123456789abcdef")

Content = bytes | Sequence[bytes | memoryview]  # of a file, in one piece or several
Digests = dict[str, str]  # SHA-256 by the name of a file, or by the option that names data


def to_bytes(files: Mapping[str, str], data: Mapping[str, str]) -> bytes:
    content = {"format": FORMAT, "files": dict(files), **({"data": dict(data)} if data else {})}
    return (json.dumps(content, indent=1) + "\n").encode()


def of_contents(contents: Mapping[str, Content], names: Sequence[str] = LISTED) -> Digests:
    """Of files that are about to be written."""
    with ThreadPoolExecutor(THREADS) as pool:
        chosen = [name for name in names if name in contents]
        hashes = pool.map(lambda name: of_content(contents[name]), chosen)
        return dict(zip(chosen, hashes, strict=True))


def of_content(content: Content) -> str:
    hashed = hashlib.sha256()
    for piece in [content] if isinstance(content, bytes) else content:
        hashed.update(piece)
    return hashed.hexdigest()


def read_manifest(folder: Path, names: Sequence[str] = LISTED) -> tuple[Digests, Digests] | None:
    """The digests of files and of data; None if the folder has no manifest."""
    return parse_manifest(folder / MANIFEST, names) if (folder / MANIFEST).is_file() else None


def parse_manifest(path: Path, names: Sequence[str] = LISTED) -> tuple[Digests, Digests]:
    content = read_json(path)
    if content.get("format") != FORMAT:
        raise InputError(f"{MANIFEST}: expected the format {FORMAT!r}, got {str(content.get('format'))[:40]!r}")
    files, data = (digests(content.get(part, {}), part) for part in ("files", "data"))
    if others := [name for name in files if name not in names]:
        raise InputError(f"{MANIFEST}: expected files of a model, got {others[0][:40]!r}")
    return files, data


def data_digests(folder: Path, strict: bool = True) -> Digests:
    """Those of data; none, unless `strict`, if the manifest cannot be read."""
    try:
        known = read_manifest(folder)
    except InputError:
        if strict:
            raise
        return {}
    return {} if known is None else known[1]


def digests(value: object, part: str) -> Digests:
    if isinstance(value, dict) and all(is_digest(one) for one in value.values()):
        return value
    raise InputError(f"{MANIFEST}: {part}: expected a SHA-256 per file, got {str(value)[:40]}")


def is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and HEX.issuperset(value)


@contextmanager
def verified(folder: Path, names: Sequence[str] = LISTED, spared: Collection[str] = SPARED) -> Iterator[None]:
    """Verify the files while the body reads them. What they fail by their digest comes before any error of the body."""
    with ThreadPoolExecutor(1) as pool:
        checked = pool.submit(verify, folder, names, spared)
        try:
            yield
        except Exception:
            checked.result()
            raise
        checked.result()


def verify(folder: Path, names: Sequence[str] = LISTED, spared: Collection[str] = SPARED) -> None:
    """Compare the files of a folder with its manifest, if it has one; `spared` ones may be missing."""
    if (known := read_manifest(folder, names)) is None:
        return
    files, _ = known
    present = [name for name in names if (folder / name).is_file()]
    for name in names:
        if name not in spared and (name in files) != (name in present):
            problem = "is missing" if name in files else "was added after it was saved"
            raise InputError(f"{name} {problem}, by {MANIFEST}; {remedy()}")
    present = [name for name in present if name in files]
    with ThreadPoolExecutor(THREADS) as pool:
        hashes = pool.map(lambda name: of_file(folder / name), present)
        for name, actual in zip(present, hashes, strict=True):
            if files[name] != actual:
                raise InputError(f"{name} has changed since it was saved, by its SHA-256 in {MANIFEST}; {remedy()}")


def remedy() -> str:
    return "restore it from a copy, or use --no-verify if it was changed on purpose"


def of_file(path: Path) -> str:
    hashed = hashlib.sha256()
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        for start in range(0, size, PIECE):  # what is mapped counts as memory of the process
            length = min(PIECE, size - start)
            with mmap(file.fileno(), length, access=ACCESS_READ, offset=start) as piece:
                hashed.update(piece)
    return hashed.hexdigest()


def of_data(path: Path) -> str | None:
    """The digest of a file, or of all files of a folder and their names; None for anything else, such as a pipe."""
    try:
        if stat.S_ISREG(path.stat().st_mode):
            return of_file(path)
        if not path.is_dir():
            return None
        hashed = hashlib.sha256()
        for inner in files_in(path):
            hashed.update(
                f"{inner.relative_to(path).as_posix()}\0{of_file(inner)}\0".encode("utf-8", "surrogateescape")
            )
        return hashed.hexdigest()
    except OSError:
        return None


def files_in(folder: Path) -> Iterator[Path]:
    """Plain files and links to them, in a fixed order. Pipes are left out: opening one may wait forever."""
    count = 0
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_file():
                yield path
                count += 1
                if count > MOST_FILES:
                    raise OSError("too many files")

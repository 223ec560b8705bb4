"""Parquet files on disks and in object storage: what a pattern matches, and files that have a name only when complete.

`s3://bucket/reviews/*.parquet` and other addresses go through pyarrow's file systems; anything else is a path of this machine.
A query behind an address belongs to its file system: `s3://…?endpoint_override=host:9000&scheme=http`.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import zip_longest
from typing import Any, NamedTuple

from regard.errors import InputError
from regard.extras import import_extra
from regard.files import PARTIAL

GLOB = re.compile(r"[*?\[]")
EVERY = "**/*.parquet"  # the pattern of a folder
FULL = {errno.ENOSPC, errno.EDQUOT}


class WritingFailed(InputError):
    """The machine could not write: another one may be able to."""


class SourceFile(NamedTuple):
    path: str  # in its file system
    name: str  # below the folder that the pattern begins in
    size: int  # bytes
    changed: int  # nanoseconds


class Place(NamedTuple):
    """A folder in a file system."""

    address: str  # as the user wrote it
    files: Any  # a pyarrow file system
    path: str

    def inside(self, name: str) -> str:
        return f"{self.path.rstrip('/')}/{name}"


def is_address(where: str) -> bool:
    return "://" in where


def is_pattern(source: str) -> bool:
    """Whether several Parquet files are meant: an address, a folder with some, or a pattern that is not the name of a file."""
    if is_address(source):
        return True
    if os.path.isdir(source):
        return any(name.lower().endswith(".parquet") for _, _, names in os.walk(source) for name in names)
    return bool(GLOB.search(source)) and source.lower().endswith(".parquet") and not os.path.exists(source)


def locate(where: str) -> Place:
    fs = import_extra("pyarrow.fs", "predictions for Parquet files")
    if not is_address(where):
        return Place(where, fs.LocalFileSystem(), os.path.abspath(where))
    try:
        files, path = fs.FileSystem.from_uri(where)
    except (ValueError, OSError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{where}: expected a path or an address such as s3://bucket/folder ({reason})") from None
    return Place(where, files, path)


def split_pattern(source: str) -> tuple[str, str]:
    """The folder that a pattern begins in, and the pattern below it."""
    body, question, query = source.partition("?") if is_address(source) else (source, "", "")
    match = GLOB.search(body)
    if match is None and not body.lower().endswith(".parquet"):
        return source, EVERY
    end = body.rfind("/", 0, match.start() if match else len(body))
    if is_address(body) and end <= body.index("://") + 2:
        raise InputError(f"{source}: expected the name of a bucket or host, then a pattern")
    return (body[:end] or "/" if end >= 0 else ".") + question + query, body[end + 1 :]


def matching_files(source: str) -> tuple[Place, list[SourceFile]]:
    """The files that a pattern, a folder or an address names, in order. Names that begin with . or _ are not data."""
    base, pattern = split_pattern(source)
    place, expression = locate(base), compiled(pattern)
    fs = import_extra("pyarrow.fs", "predictions for Parquet files")
    try:
        listed = place.files.get_file_info(fs.FileSelector(place.path, recursive="/" in pattern or "**" in pattern))
    except OSError as error:
        raise InputError(f"{source}: cannot be listed ({reason_of(error)})") from None
    found = []
    for info in listed:
        name = info.path[len(place.path.rstrip("/")) + 1 :]
        hidden = any(part.startswith((".", "_")) for part in name.split("/"))
        matched = name.lower() if pattern == EVERY else name  # .PARQUET ends the name of a Parquet file too
        if info.type == fs.FileType.File and not hidden and expression.fullmatch(matched):
            found.append(SourceFile(info.path, name, info.size, info.mtime_ns or 0))
    if not found:
        raise InputError(f"{source}: no such files; expected at least one Parquet file, got none")
    return place, sorted(found)


def outside(files: list[SourceFile], source: Place, target: Place) -> list[SourceFile]:
    """Without what lies in the folder of predictions, which may be inside that of the texts."""
    if type(source.files) is not type(target.files):
        return files
    return [file for file in files if not file.path.startswith(target.path.rstrip("/") + "/")]


def compiled(pattern: str) -> re.Pattern[str]:
    """* and ? do not match a slash, **/ matches any folders, [ab] one of these characters, and [!ab] any other."""
    parts = re.split(r"(\*\*/|\*|\?|\[[!^]?[^\]/]+\])", pattern)  # every second one is a wildcard
    meaning = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    wild = (meaning.get(part) or one_of(part[1:-1]) for part in parts[1::2])
    plain = map(re.escape, parts[::2])
    try:
        return re.compile("".join(part for pair in zip_longest(plain, wild, fillvalue="") for part in pair))
    except re.error as error:
        raise InputError(
            f"{pattern}: expected a pattern such as part-[0-9]*.parquet, got one with a {error.msg}"
        ) from None


def one_of(characters: str) -> str:
    is_not = characters[:1] in ("!", "^")
    escaped = re.sub(r"([\\\[&|~])", r"\\\1", characters[is_not:])
    return f"(?!/)[^{escaped}]" if is_not else f"[{escaped}]"


@contextmanager
def complete_file(place: Place, name: str) -> Iterator[Any]:
    """An open file, which gets its name when all of it is written; a killed writer leaves at most a hidden file."""
    folder, _, last = name.rpartition("/")
    target = place.inside(name)
    temporary = place.inside(f"{folder}{'/' * bool(folder)}.{last}.{uuid.uuid4().hex[:12]}{PARTIAL}")
    try:
        if not is_address(place.address) or place.address.startswith("file:"):  # object storage has no folders
            os.makedirs(os.path.dirname(target), exist_ok=True)
        with place.files.open_output_stream(temporary) as file:
            yield file
        place.files.move(temporary, target)
    except OSError as error:
        remove(place, temporary)
        raise WritingFailed(f"{target}: could not be written on {socket.gethostname()} ({reason_of(error)})") from None
    except BaseException:
        remove(place, temporary)
        raise


def remove(place: Place, path: str) -> None:
    with suppress(OSError):
        place.files.delete_file(path)


def reason_of(error: OSError) -> str:
    if error.errno in FULL:
        return "the disk is full; free some space, and the same command continues"
    return (error.strerror or str(error)).splitlines()[0]

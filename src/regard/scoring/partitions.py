"""The partitions of Parquet files, and which of them have been scored.

A partition is a range of row groups of one file, of some hundred thousand rows, and has one file of predictions: its name follows
from the source alone, and its metadata says which texts it is of. So a command that is started again knows what is finished,
and scoring a partition twice leaves one file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from regard.data.parquet import DAMAGE, columns_of_one_name, reason
from regard.errors import InputError
from regard.extras import import_extra
from regard.scoring.locations import Place, SourceFile, complete_file

ROWS, BYTES = 1 << 17, 1 << 25  # a partition ends with the row group that reaches one of these
REQUESTS = 16  # files opened at a time: object storage answers late, but many at once
SCORED = b"regard"  # key of the metadata of a file of predictions
NUMBERED = re.compile(r"-\d{5,}-of-\d{5,}$")  # the end of the name of one of several partitions
SETTINGS = "_regard.json"  # beside the predictions: which model and options they are of
LARGEST_SETTINGS = 1 << 20  # bytes of it that are read


class Partition(NamedTuple):
    source: SourceFile
    groups: tuple[int, int]  # row groups [first, last)
    first_row: int  # counted from 1
    rows: int
    target: str  # name of the file of predictions

    @property
    def identity(self) -> bytes:
        """Of the texts in it."""
        source = self.source
        parts = {"source": source.name, "bytes": source.size, "changed": source.changed, "row_groups": self.groups}
        return json.dumps(parts).encode()


def plan(place: Place, files: Sequence[SourceFile]) -> tuple[list[Partition], list[str]]:
    """The partitions, and why some files have none: they cannot be opened."""
    with ThreadPoolExecutor(REQUESTS) as pool:
        footers = list(pool.map(lambda file: row_groups(place, file), files))
    partitions, unreadable = [], []
    for file, groups in zip(files, footers, strict=True):
        if isinstance(groups, str):
            unreadable.append(groups)
        else:
            partitions += divide(file, groups)
    names: dict[str, str] = {}
    for one in partitions:
        if (other := names.setdefault(one.target, one.source.name)) != one.source.name:
            raise InputError(
                f"{one.source.name} and {other}: predictions for both would be named {one.target}; rename one of them"
            )
    return partitions, unreadable


def row_groups(place: Place, file: SourceFile) -> list[tuple[int, int]] | str:
    """(rows, bytes) of each, or why the file cannot be opened."""
    try:
        footer = open_parquet(place, file).metadata
    except InputError as error:
        return str(error)
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    return [(group.num_rows, group.total_byte_size) for group in groups]


def open_parquet(place: Place, file: SourceFile) -> Any:
    parquet = import_extra("pyarrow.parquet", "predictions for Parquet files")
    try:
        opened = parquet.ParquetFile(place.files.open_input_file(file.path))
        names = opened.schema_arrow.names
    except DAMAGE as error:
        raise InputError(f"{file.path}: is not a complete Parquet file, or cannot be read ({reason(error)})") from None
    check_names(names, file.path)
    return opened


def first_readable(place: Place, files: Sequence[SourceFile]) -> tuple[SourceFile, Any]:
    """A file and its schema. If none of the first files can be opened, the error of the first: more would take long."""
    first: InputError | None = None
    for file in files[:REQUESTS]:
        try:
            return file, open_parquet(place, file).schema_arrow
        except InputError as error:
            first = first or error
    assert first is not None  # there are files
    raise first


def check_names(names: Sequence[str], where: str) -> None:
    """Also of columns without a name: they are copied too."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise columns_of_one_name(where, twice[0])


def divide(file: SourceFile, groups: Sequence[tuple[int, int]]) -> list[Partition]:
    ranges: list[tuple[int, int, int]] = []  # first and last group, rows
    first = rows = size = 0
    for number, (count, length) in enumerate(groups, 1):
        rows, size = rows + count, size + length
        if rows >= ROWS or size >= BYTES or number == len(groups):
            ranges.append((first, number, rows))
            first, rows, size = number, 0, 0
    if not groups:  # a file without rows may have none: it has predictions without rows
        ranges.append((0, 0, 0))
    stem, before, partitions = stem_of(file.name), 1, []
    for number, (start, stop, count) in enumerate(ranges):
        suffix = "" if len(ranges) == 1 else f"-{number:05d}-of-{len(ranges):05d}"
        partitions.append(Partition(file, (start, stop), before, count, f"{stem}{suffix}.parquet"))
        before += count
    return partitions


def outdated(place: Place, partitions: Iterable[Partition]) -> list[str]:
    """Predictions for partitions that these files no longer have, because they have changed: rows would be there twice."""
    fs = import_extra("pyarrow.fs", "predictions for Parquet files")
    targets, stems = set(), set()
    for one in partitions:
        targets.add(one.target)
        stems.add(stem_of(one.source.name))
    base = place.path.rstrip("/")
    listed = place.files.get_file_info(fs.FileSelector(place.path, recursive=True, allow_not_found=True))
    others = [info.path for info in listed if info.path[len(base) + 1 :] not in targets]
    candidates = [path for path in others if NUMBERED.sub("", stem_of(path[len(base) + 1 :])) in stems]
    with ThreadPoolExecutor(REQUESTS) as pool:
        sources = list(pool.map(lambda path: source_of_scored(place, path), candidates))
    names = {one.source.name for one in partitions}
    return [path for path, source in zip(candidates, sources, strict=True) if source in names]


def source_of_scored(place: Place, path: str) -> str | None:
    """The name of the file that a file of predictions is for; None if it is none."""
    parquet = import_extra("pyarrow.parquet", "predictions for Parquet files")
    try:
        metadata = parquet.read_metadata(path, filesystem=place.files).metadata or {}
        source = json.loads(metadata[SCORED])["source"]
    except (*DAMAGE, KeyError, TypeError):
        return None
    return source if isinstance(source, str) else None


def stem_of(name: str) -> str:
    return name[: -len(".parquet")] if name.lower().endswith(".parquet") else name


def finished(place: Place, partitions: Iterable[Partition]) -> tuple[set[str], int]:
    """Targets that were scored from these texts, and the number of those that were scored from others."""
    with ThreadPoolExecutor(REQUESTS) as pool:
        states = list(pool.map(lambda one: (one.target, scored_from(place, one)), partitions))
    return {target for target, state in states if state}, sum(state is False for _, state in states)


def scored_from(place: Place, partition: Partition) -> bool | None:
    """Whether the file of predictions is of these texts; None if there is none."""
    parquet = import_extra("pyarrow.parquet", "predictions for Parquet files")
    fs = import_extra("pyarrow.fs", "predictions for Parquet files")
    path = place.inside(partition.target)
    if place.files.get_file_info(path).type != fs.FileType.File:
        return None
    try:
        metadata = parquet.read_metadata(path, filesystem=place.files).metadata or {}
    except DAMAGE:
        return False
    return bool(metadata.get(SCORED) == partition.identity)


def check_settings(place: Place, settings: Mapping[str, object]) -> None:
    """Refuse a folder with predictions of another model or of other options; note ours in a new one."""
    fs = import_extra("pyarrow.fs", "predictions for Parquet files")
    path = place.inside(SETTINGS)
    content = json.dumps(settings, indent=1, sort_keys=True, ensure_ascii=False)
    if place.files.get_file_info(path).type == fs.FileType.File:
        with place.files.open_input_stream(path) as file:
            earlier = file.read(LARGEST_SETTINGS).decode("utf-8", "replace")
        if earlier == content:
            return
        raise InputError(f"{place.address}: has predictions of {difference(earlier, settings)}; choose another --out")
    if is_used(place):
        raise InputError(
            f"{place.address}: expected a new folder, or one of the same command, got one with other files; "
            "choose another --out"
        )
    with complete_file(place, SETTINGS) as file:
        file.write(content.encode("utf-8", "replace"))


def difference(earlier: str, settings: Mapping[str, object]) -> str:
    try:
        before = json.loads(earlier)
        name = next(key for key in {**before, **settings} if before.get(key) != settings.get(key))
    except (ValueError, RecursionError, StopIteration, TypeError):  # damaged, or of something else
        return "another command"
    return f"another command ({name[:40]}: {str(before.get(name))[:80]} there, {settings.get(name)} here)"


def is_used(place: Place) -> bool:
    fs = import_extra("pyarrow.fs", "predictions for Parquet files")
    try:
        listed = place.files.get_file_info(fs.FileSelector(place.path, allow_not_found=True))
    except OSError:
        return False
    return any(not info.base_name.startswith(".") for info in listed)

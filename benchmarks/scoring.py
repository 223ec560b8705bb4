"""Predictions for Parquet files: row by row and from Arrow's buffers, one process and Ray actors, an actor killed in the middle.

    REGARD_DATA=… python benchmarks/scoring.py buffers [--repeats 5] [--save]             CPU time, short and long texts
    REGARD_DATA=… python benchmarks/scoring.py words [--repeats 5] [--save]               the same with the three heaviest words
    REGARD_DATA=… python benchmarks/scoring.py actors [--texts 1000000] [--save]          short texts; needs Ray

`buffers` predicts one file with the code that other formats still use (rows) and by columns, in turn, and reports medians.
Packing is measured alone too: Arrow column to strings to bytes, and from its buffers.
Ratios are comparable between machines, seconds are not. `--save` adds the figures to results/scoring.json.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from figures import machine, save_figures, source_commit

from regard.cli import main as regard
from regard.commands.predict_blocks import predict_stream
from regard.corpora.lookup import resolve
from regard.data.arrow_texts import column_texts
from regard.data.packing import pack
from regard.data.read_options import ReadOptions
from regard.data.readers import stream
from regard.models.folder import load
from regard.models.trained import Trained
from regard.report.text.predictions import Layout, write_predictions
from regard.scoring.parquet_files import Columns, predict_file
from regard.scoring.scorer import Scorer

RESULTS = Path(__file__).parent / "results" / "scoring.json"
CORPORA = {"short": ("ag_news", 100_000), "long": ("imdb", 25_000)}
FILES = 8
ROW_GROUP = 1 << 16
ROUNDING = 1e-5  # of probabilities


def train(corpus: str, folder: Path) -> Trained:
    assert regard(["train", corpus, "--out", str(folder)]) == 0
    return load(folder)


def texts_of(corpus: str, count: int) -> list[str]:
    """Training texts, again from the first where there are too few."""
    return list(islice(cycle([example.text for example in stream(resolve(corpus, "train"))]), count))


def write_texts(path: Path, texts: list[str], first: int = 0) -> None:
    ids = pa.array(range(first, first + len(texts)), pa.int64())
    pq.write_table(pa.table({"id": ids, "text": texts}), path, row_group_size=ROW_GROUP)


def by_rows(trained: Trained, path: Path, out: Path, layout: Layout) -> None:
    examples = stream(path, ReadOptions("text", labelled=False, at_least=1, keep=("id",), mark_bad_rows=True))
    write_predictions(predict_stream(trained, examples, str(path), strict=False), "parquet", out, layout, print)


def by_columns(trained: Trained, path: Path, out: Path, layout: Layout) -> None:
    pieces = predict_file(Scorer(trained, layout), str(path), Columns("text", ("id",)), lambda rows, bad: None)
    with out.open("wb") as file:
        file.writelines(pieces)


def cpu_seconds(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def measure_buffers(repeats: int) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, (corpus, count) in CORPORA.items():
            trained = train(corpus, folder / corpus)
            texts = texts_of(corpus, count)
            path, column = folder / f"{kind}.parquet", pa.array(texts)
            write_texts(path, texts)
            layout = Layout(trained.task.classes, ("id",))  # type: ignore[attr-defined]
            works: dict[str, Callable[[], object]] = {
                "rows": lambda a=(trained, path, folder / "rows.parquet", layout): by_rows(*a),  # type: ignore[misc]
                "columns": lambda a=(trained, path, folder / "columns.parquet", layout): by_columns(*a),  # type: ignore[misc]
                "pack_strings": lambda column=column: pack(column.to_pylist()),  # type: ignore[misc]
                "pack_buffers": lambda column=column: column_texts(column, "", "text", 1, True),  # type: ignore[misc]
            }
            seconds: dict[str, list[float]] = {name: [] for name in works}
            for turn in range(repeats + 1):
                for name, work in works.items():
                    used = cpu_seconds(work)
                    seconds[name] += [used] if turn else []  # the first turn compiles
            assert same(folder / "rows.parquet", folder / "columns.parquet")
            medians = {name: statistics.median(values) for name, values in seconds.items()}
            figures[kind] = {
                "corpus": corpus,
                "texts": count,
                "characters_per_text": round(sum(map(len, texts)) / count),
                "not_ascii": round(sum(not text.isascii() for text in texts) / count, 4),
                "cpu_seconds": {name: round(value, 4) for name, value in medians.items()},
                "texts_per_cpu_second": {name: round(count / medians[name]) for name in ("rows", "columns")},
                "rows_to_columns": round(medians["rows"] / medians["columns"], 2),
                "pack_strings_to_buffers": round(medians["pack_strings"] / medians["pack_buffers"], 2),
            }
            print(json.dumps({kind: figures[kind]}, indent=1), flush=True)
    return {"repeats": repeats, **figures, "machine": machine("numpy", "numba", "pyarrow"), "commit": source_commit()}


def measure_words(repeats: int) -> dict[str, Any]:
    """CPU time of answers alone, and with the three heaviest words of every text."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        for kind, (corpus, count) in CORPORA.items():
            trained = train(corpus, Path(name) / corpus)
            column = pa.array(texts_of(corpus, count // 10))
            layout = Layout(trained.task.classes)  # type: ignore[attr-defined]
            seconds: dict[int, list[float]] = {0: [], 3: []}
            for turn in range(repeats + 1):
                for words, values in seconds.items():
                    scorer = Scorer(trained, layout, words)
                    used = cpu_seconds(lambda a=(scorer, column): a[0].score(a[1], "", "text", 1))  # type: ignore[misc]
                    values += [used] if turn else []  # the first turn compiles
            rates = {words: len(column) / statistics.median(values) for words, values in seconds.items()}
            figures[kind] = {
                "corpus": corpus,
                "texts": len(column),
                "texts_per_cpu_second": round(rates[0]),
                "texts_per_cpu_second_with_words": round(rates[3]),
                "cost_of_words": round(rates[0] / rates[3], 1),
            }
            print(json.dumps({kind: figures[kind]}), flush=True)
    return {"repeats": repeats, **figures, "machine": machine("numpy", "numba", "pyarrow"), "commit": source_commit()}


def same(one: Path, other: Path) -> bool:
    """Equal values, but for the last digits of probabilities: how many texts are predicted at once decides how sums are rounded.

    Columns that are kept are strings in files that were written row by row.
    """
    first, second = pq.read_table(one), pq.read_table(other)
    second = second.set_column(second.column_names.index("id"), "id", second["id"].cast(pa.string()))
    if first.column_names != second.column_names:
        return False
    return all(
        np.allclose(first[name], second[name], rtol=0, atol=ROUNDING)
        if pa.types.is_floating(first[name].type)
        else first[name].equals(second[name])
        for name in first.column_names
    )


def measure_actors(count: int) -> dict[str, Any]:
    import ray

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trained = train("ag_news", folder / "run")
        source, size = folder / "in", -(-count // FILES)
        source.mkdir()
        texts = texts_of("ag_news", count)
        for number in range(FILES):
            write_texts(source / f"part-{number}.parquet", texts[number * size : (number + 1) * size], number * size)
        figures: dict[str, Any] = {"texts": count, "files": FILES, "load_average": os.getloadavg()[0]}
        layout = Layout(trained.task.classes, ("id",))  # type: ignore[attr-defined]
        for kind, work in (("rows", by_rows), ("columns", by_columns)):
            figures[kind] = timed(
                lambda work=work: [work(trained, path, folder / "x.parquet", layout) for path in source.iterdir()],  # type: ignore[misc]
                count,
            )
        command = ["predict", str(folder / "run"), f"{source}/*.parquet", "--text", "text", "--out"]
        figures["folder"] = timed(lambda: regard([*command, str(folder / "here")]), count)
        before = time.perf_counter()
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, object_store_memory=10**8)
        figures["ray_start_seconds"] = round(time.perf_counter() - before, 1)
        for actors in (1, 2):
            out = folder / f"actors-{actors}"
            options = [str(out), "--on", "ray", "--actors", str(actors)]
            with ActorTimes() as used:
                figures[f"ray_{actors}"] = timed(lambda options=options: regard([*command, *options]), count)  # type: ignore[misc]
            figures[f"ray_{actors}"]["cpu_seconds_of_actors"] = round(sum(used.seconds.values()), 2)
            figures[f"ray_{actors}"] |= {"ids": ids(out, count), "equal_to_one_process": equal(out, folder / "here")}
        figures["killed"] = killed(command, folder, count)
        ray.shutdown()
    return figures | {"machine": machine("numpy", "numba", "pyarrow", "ray"), "commit": source_commit()}


def timed(work: Callable[[], object], count: int) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    measured = {
        "seconds": round(wall, 2),
        "cpu_seconds_of_this_process": round(cpu, 2),
        "texts_per_second": round(count / wall),
    }
    print(json.dumps(measured), flush=True)
    return measured


def ids(out: Path, count: int) -> dict[str, int]:
    """How many identifiers came out, how many different ones, and how many went in."""
    column = ds.dataset(out).to_table(columns=["id"])["id"].to_pylist()
    return {"in": count, "out": len(column), "distinct": len({*column}), "missing": len({*range(count)} - {*column})}


def equal(one: Path, other: Path) -> bool:
    tables = [ds.dataset(folder).to_table().sort_by("id") for folder in (one, other)]
    return bool(tables[0].equals(tables[1]))


def killed(command: list[str], folder: Path, count: int) -> dict[str, Any]:
    """Two actors, one of which is killed when a third of the partitions is finished."""
    out = folder / "killed"
    victim: list[int] = []

    def kill() -> None:
        partitions = len(list((folder / "here").glob("*.parquet")))
        while len(list(out.glob("*.parquet"))) < partitions // 3:
            time.sleep(0.02)
        victim.append(actor_processes()[0])
        os.kill(victim[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    code = regard([*command, str(out), "--on", "ray", "--actors", "2"])
    killer.join()
    return {
        "exit_code": code,
        "killed": len(victim),
        "ids": ids(out, count),
        "equal_to_one_process": equal(out, folder / "here"),
    }


class ActorTimes:
    """The CPU time of actors, which are gone when a command ends: read from time to time."""

    def __init__(self) -> None:
        self.seconds: dict[int, float] = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self) -> None:
        while not self.ended.wait(0.2):
            for process in actor_processes():
                with suppress(OSError):
                    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                    self.seconds[process] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> ActorTimes:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()


def actor_processes() -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"ray::PartitionActor" in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("buffers", "words", "actors"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    if arguments.what == "actors":
        figures = measure_actors(arguments.texts)
    else:
        figures = (measure_buffers if arguments.what == "buffers" else measure_words)(arguments.repeats)
    print(json.dumps({arguments.what: figures}, indent=1), flush=True)
    if arguments.save:
        save_figures(RESULTS, {arguments.what: figures})


if __name__ == "__main__":
    main()

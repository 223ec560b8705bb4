"""Predictions and explanations of a large file, from file to file, beside TF-IDF + LinearSVC in the same run.

    REGARD_DATA=… python benchmarks/bulk.py [--corpora imdb ag_news] [--megabytes 200] [--work FOLDER] [--save]

The training texts of a corpus are repeated as JSON lines up to `--megabytes`, and written as JSON lines. Every command is a
process of its own, which also loads the model: `startup` is the same command on a few texts, and the rates are of what lies above
it. Explanations with all words are 35 bytes per byte of text, so they are of a tenth of the file. The peer is scikit-learn with
its defaults, in this process after it was trained: it reads lines with `json.loads` and writes the class. `--work` keeps files.

CPU seconds are of all threads; on a busy machine only they are steady. `--save` writes results/bulk.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from figures import compile_source, cpu_of_children, machine, save_figures

from regard.corpora.lookup import resolve
from regard.data.readers import stream

RESULTS = Path(__file__).parent / "results" / "bulk.json"
REGARD = [sys.executable, "-m", "regard"]
TOP = 5


def peer(texts: list[str], labels: list[str], source: Path, out: Path) -> tuple[float, float]:
    """Seconds of the wall clock, and of the CPU, without those of training."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    vectorizer = TfidfVectorizer(sublinear_tf=True)
    classifier = LinearSVC().fit(vectorizer.fit_transform(texts), labels)
    wall, cpu = time.perf_counter(), time.process_time()
    with source.open(encoding="utf-8") as lines, out.open("w", encoding="utf-8") as file:
        while chunk := [json.loads(line)["text"] for line in islice(lines, 1 << 14)]:
            for name in classifier.predict(vectorizer.transform(chunk)):
                file.write(json.dumps({"prediction": name}) + "\n")
    return time.perf_counter() - wall, time.process_time() - cpu


def write_texts(texts: list[str], size: int, path: Path) -> tuple[int, int]:
    """Returns the number of texts, and their bytes."""
    count = written = 0
    with path.open("w", encoding="utf-8") as file:
        for text in cycle(texts):
            if written >= size:
                return count, written
            file.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
            count, written = count + 1, written + len(text.encode())
    return count, written


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds of the wall clock, and of the CPU."""
    before, start = cpu_of_children(), time.perf_counter()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start, cpu_of_children() - before


def measure(corpus: str, megabytes: int, work: Path) -> dict[str, Any]:
    examples = list(stream(resolve(corpus, "train")))
    texts, run, out = [example.text for example in examples], work / f"{corpus}_run", work / "out.jsonl"
    if not run.exists():
        subprocess.run([*REGARD, "train", corpus, "--out", str(run)], check=True)
    whole, tenth, few = (work / f"{corpus}_{name}.jsonl" for name in ("whole", "tenth", "few"))
    sizes = {
        path: write_texts(texts, size, path) for path, size in ((whole, megabytes * 10**6), (tenth, megabytes * 10**5))
    }
    sizes[few] = write_texts(texts[:100], 1, few)
    rows: dict[str, Any] = {}
    for name, source, command in (
        ("predict", whole, ["predict", str(run), "FILE"]),
        ("explain_top", whole, ["explain", str(run), "--top", str(TOP), "--file", "FILE"]),
        ("explain", tenth, ["explain", str(run), "--file", "FILE"]),
        ("tfidf_svc", whole, []),
    ):

        def once(file: Path, command: list[str] = command) -> tuple[float, float]:
            return timed([*REGARD, *(str(file) if part == "FILE" else part for part in command), "--out", str(out)])

        if command:
            once(few)  # compiled before anything is measured
            startup, (wall, cpu) = once(few), once(source)
        else:
            startup, (wall, cpu) = (0.0, 0.0), peer(texts, [str(example.label) for example in examples], source, out)
        count, size = sizes[source]
        rows[name] = {
            "texts": count,
            "megabytes": size / 1e6,
            "megabytes_written": os.path.getsize(out) / 1e6,
            "startup_wall": startup[0],
            "startup_cpu": startup[1],
            "wall": wall,
            "cpu": cpu,
            "megabytes_per_second": size / 1e6 / (wall - startup[0]),
            "megabytes_per_cpu_second": size / 1e6 / (cpu - startup[1]),
            "texts_per_second": count / (wall - startup[0]),
            "texts_per_cpu_second": count / (cpu - startup[1]),
        }
        print(corpus, name, {key: round(value, 2) for key, value in rows[name].items()}, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=["imdb", "ag_news"])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--busy", action="store_true", help="note that other processes ran meanwhile")
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    compile_source()
    with tempfile.TemporaryDirectory() as folder:
        work = arguments.work or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        rows = {corpus: measure(corpus, arguments.megabytes, work) for corpus in arguments.corpora}
    if arguments.save:
        found = {"machine": machine(), "busy": arguments.busy, "load": os.getloadavg()[0], "corpora": rows}
        save_figures(RESULTS, found)


if __name__ == "__main__":
    main()

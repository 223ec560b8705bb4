"""The default `regard train` compared with fastText and TF-IDF with linear classifiers: accuracy and training time.

    REGARD_DATA=… python benchmarks/accuracy.py choose [CORPUS …]   choose each peer's setting on dev
    REGARD_DATA=… python benchmarks/accuracy.py peers [CORPUS …]    score that setting on test, five seeds
    REGARD_DATA=… python benchmarks/accuracy.py regard [CORPUS …]   score the command line without options, same seeds
    REGARD_DATA=… python benchmarks/accuracy.py times [CORPUS …]    time regard and the best peer alternately, in new processes
    REGARD_DATA=… python benchmarks/accuracy.py table               write the results as Markdown

Results are saved in benchmarks/results as soon as they are measured; saved results are not measured again without --again.

All models are trained on the same texts. If a corpus has no dev split, a tenth of train is held out as regard does it: with
seed 0 for the choice, then with the seed of each run. DEVELOPMENT corpora were used to choose regard's defaults, OTHERS were
not. The grids are in peers.py; two are not searched completely: logistic regression uses the features that were best for
LinearSVC, and on LONG corpora fastText sees plain lower-case text only at the rate that was best for regard's words.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from figures import compile_source, cpu_of_children, processor, versions
from peers import PEERS, READINGS, THREADS, Peer, Setting, answers, classifier, fit, vectorizer
from scipy import stats

from regard.corpora.lookup import companion, resolve
from regard.data.readers import read
from regard.data.splitting import hold_out
from regard.records import Example

RESULTS = Path(__file__).parent / "results"
CHOICE, PEERS_FILE, REGARD, TIMES, TABLE = (
    RESULTS / name for name in ("peers_choice.json", "peers.json", "regard_default.json", "times.json", "accuracy.md")
)
DEVELOPMENT = ("trec", "sst2", "sst1", "mr", "subj", "ag_news", "20newsgroups", "imdb")
OTHERS = ("cr", "yelp_small", "amazon_multidomain")
LONG = ("ag_news", "20newsgroups", "imdb")
TIMED = ("ag_news", "20newsgroups", "imdb")
SEEDS = range(5)
CONDITIONS = ("quiet", "busy neighbour", "one core, two threads")
REPETITIONS = 3
Row = dict[str, Any]
Taken = tuple[float, float]  # seconds of wall clock and of CPU time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = {"choose": choose, "peers": score_peers, "regard": score_regard, "times": measure_times}
    parser.add_argument("step", choices=[*steps, "table"])
    parser.add_argument("corpora", nargs="*", metavar="CORPUS")
    parser.add_argument("--again", action="store_true", help="measure again instead of keeping saved results")
    arguments = parser.parse_args()
    compile_source()
    if arguments.step == "table":
        TABLE.write_text(table(load_rows(PEERS_FILE), load_rows(REGARD), load_rows(TIMES)), encoding="utf-8")
        print(TABLE.read_text(encoding="utf-8"))
        return
    if arguments.again:
        {"choose": CHOICE, "peers": PEERS_FILE, "regard": REGARD, "times": TIMES}[arguments.step].unlink(
            missing_ok=True
        )
    for corpus in arguments.corpora or (TIMED if arguments.step == "times" else DEVELOPMENT + OTHERS):
        steps[arguments.step](corpus)


# Saved results


def load_rows(path: Path) -> dict[str, Row]:
    return json.loads(path.read_text(encoding="utf-8"))["corpora"] if path.exists() else {}


def save_row(path: Path, step: str, corpus: str, row: Row) -> None:
    """Add one row. All rows of a file come from one machine and one set of versions; others would not be comparable."""
    content = {"command": f"python benchmarks/accuracy.py {step}", **environment(), "corpora": load_rows(path)}
    if path.exists() and json.loads(path.read_text(encoding="utf-8")) != content:
        raise SystemExit(
            f"{path.name}: expected results of this machine and these versions, got others; remove it to start over"
        )
    content["corpora"][corpus] = {"data": checksums(corpus), **row}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def environment() -> Row:
    return {
        "machine": f"{processor()} ({platform.machine()}), {os.cpu_count()} cores, {THREADS} threads used",
        "versions": versions("regard", "torch", "numpy", "scikit-learn", "scipy", "fasttext"),
        "seeds": list(SEEDS),
    }


def checksums(corpus: str) -> dict[str, str]:
    """The beginning of each file's SHA-256."""
    files = [resolve(corpus), companion(corpus, "dev"), companion(corpus, "test")]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files if file is not None}


# Choice of settings


def train_and_dev(corpus: str, seed: int) -> tuple[list[Example], list[Example]]:
    examples, dev = read(resolve(corpus)).examples, companion(corpus, "dev")
    return hold_out(examples, 0.1, seed, by_label=True) if dev is None else (examples, read(dev).examples)


def labels(examples: Sequence[Example]) -> list[str]:
    return [str(example.label) for example in examples]


def accuracy(predicted: Sequence[str], true: Sequence[str]) -> float:
    return float(np.mean([one == other for one, other in zip(predicted, true, strict=True)]))


class Search:
    """Dev accuracy of settings on one corpus; texts and features are prepared once."""

    def __init__(self, corpus: str) -> None:
        self.parts = train_and_dev(corpus, seed=0)
        self.lines: dict[str, list[list[str]]] = {}
        self.features: dict[str, tuple[Any, Any]] = {}

    def prepared(self, reading: str) -> list[list[str]]:
        if reading not in self.lines:
            self.lines[reading] = [[READINGS[reading](example.text) for example in part] for part in self.parts]
        return self.lines[reading]

    def dev(self, peer: Peer, setting: Setting) -> float | None:
        """None if fastText diverged at that learning rate."""
        train, dev = self.prepared(setting["reading"])
        true, wanted = map(labels, self.parts)
        if peer.kind == "fasttext":
            model = fit(peer, setting, train, true, seed=0)
            return None if model is None else accuracy(answers(peer, model, dev), wanted)
        key = json.dumps([peer.ngrams, {**setting, "C": None}])
        if key not in self.features:
            vectors = vectorizer(peer, setting)
            self.features[key] = vectors.fit_transform(train), vectors.transform(dev)
        train_features, dev_features = self.features[key]
        return accuracy(classifier(peer, setting, seed=0).fit(train_features, true).predict(dev_features), wanted)


def choose(corpus: str) -> None:
    search: Search | None = None
    results = load_rows(CHOICE).get(corpus, {}).get("peers", {})
    for name, peer in PEERS.items():
        if name in results:
            continue
        search = search or Search(corpus)
        tried: list[tuple[Setting, float | None]] = []
        begin = time.perf_counter()
        for setting in settings(corpus, peer, results, tried):
            tried.append((setting, search.dev(peer, setting)))
        setting, dev = best(tried)
        results[name] = {"setting": setting, "dev": dev, "tried": {as_text(one): score for one, score in tried}}
        save_row(CHOICE, "choose", corpus, {"held_out": companion(corpus, "dev") is None, "peers": results})
        seconds = time.perf_counter() - begin
        print(
            f"{corpus}: {name}: {as_text(setting)}: dev {dev:.2%} ({len(tried)} settings, {seconds:.0f} s)", flush=True
        )


def settings(corpus: str, peer: Peer, results: Row, tried: list[tuple[Setting, float | None]]) -> Iterator[Setting]:
    """The settings to try: the grid or a part of it, the last of which may depend on the settings `tried` so far."""
    grid = list(peer.grid())
    if peer.kind == "logistic":
        name = next(name for name, other in PEERS.items() if other == Peer("svm", peer.ngrams))
        features = {key: value for key, value in results[name]["setting"].items() if key != "C"}
        yield from (setting for setting in grid if features.items() <= setting.items())
    elif peer.kind == "fasttext" and corpus in LONG:
        yield from (setting for setting in grid if setting["reading"] == "words")
        yield {**best(tried)[0], "reading": "spaces"}
    else:
        yield from grid


def best(tried: Sequence[tuple[Setting, float | None]]) -> tuple[Setting, float]:
    """The best setting on dev; among equals the first."""
    return max(((setting, dev) for setting, dev in tried if dev is not None), key=lambda pair: pair[1])


def as_text(setting: Setting) -> str:
    return ", ".join(f"{name} {value}" for name, value in setting.items())


# Scoring


def score_peers(corpus: str) -> None:
    choice = load_rows(CHOICE)[corpus]
    results = load_rows(PEERS_FILE).get(corpus, {}).get("peers", {})
    remaining = [name for name in PEERS if name not in results and name in choice["peers"]]
    if not remaining:
        return
    test = read(resolve(corpus, "test")).examples
    for name in remaining:
        peer, setting = PEERS[name], choice["peers"][name]["setting"]
        reading = READINGS[setting["reading"]]
        test_lines = [reading(example.text) for example in test]
        scores: dict[str, list[float]] = {"dev": [], "test": []}
        for seed in SEEDS:
            if scores["test"] and peer.kind == "logistic" and not choice["held_out"]:
                row = {part: values[0] for part, values in scores.items()}  # nothing is random here
            else:
                train, dev = train_and_dev(corpus, seed)
                model = fit(peer, setting, [reading(example.text) for example in train], labels(train), seed)
                if model is None:
                    raise SystemExit(f"{corpus}: {name} diverged with {as_text(setting)} and seed {seed}")
                dev_lines = [reading(example.text) for example in dev]
                row = {"dev": accuracy(answers(peer, model, dev_lines), labels(dev))}
                row["test"] = accuracy(answers(peer, model, test_lines), labels(test))
            for part, value in row.items():
                scores[part].append(value)
        results[name] = {"setting": setting, **summary(scores)}
        save_row(PEERS_FILE, "peers", corpus, {"test_texts": len(test), "peers": results})
        print(f"{corpus}: {name}: dev {shown(results[name], 'dev')}, test {shown(results[name], 'test')}", flush=True)


def score_regard(corpus: str) -> None:
    if corpus in load_rows(REGARD):
        return
    scores: dict[str, list[float]] = {"dev": [], "test": []}
    seconds, size = [], 0
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            seconds.append(timed([*regard_command(corpus, run), "--test", f"{corpus}/test", "--seed", str(seed)]))
            metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
        for part, values in scores.items():
            values.append(metrics[part]["accuracy"])
        size = metrics["test"]["n"]
    row = {"test_texts": size, **summary(scores), "seconds_with_test": [round(value, 2) for value in seconds]}
    save_row(REGARD, "regard", corpus, row)
    print(f"{corpus}: regard: dev {shown(row, 'dev')}, test {shown(row, 'test')}", flush=True)


def regard_command(corpus: str, out: Path) -> list[str]:
    script = Path(sys.executable).with_name("regard")  # of the same environment as this script
    return [str(script) if script.exists() else shutil.which("regard") or "regard", "train", corpus, "--out", str(out)]


def timed(command: Sequence[str], environment: dict[str, str] | None = None) -> float:
    begin = time.perf_counter()
    process = subprocess.run(command, capture_output=True, text=True, env=environment)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}\n{process.stdout[-2000:]}{process.stderr[-2000:]}")
    return time.perf_counter() - begin


def summary(scores: dict[str, list[float]]) -> Row:
    """In percent, rounded to thousandths; `interval` is half the 95 % interval of the mean over seeds (Student's t)."""
    row: Row = {}
    for part, values in scores.items():
        percent = [100 * value for value in values]
        half = stats.t.ppf(0.975, len(percent) - 1) * np.std(percent, ddof=1) / math.sqrt(len(percent))
        row[part] = [round(value, 3) for value in percent]
        row[f"{part}_mean"], row[f"{part}_interval"] = round(float(np.mean(percent)), 3), round(float(half), 3)
    return row


def shown(row: Row, part: str) -> str:
    return f"{row[f'{part}_mean']:.2f} ± {row[f'{part}_interval']:.2f}"


# Times


def measure_times(corpus: str) -> None:
    """Alternately, so that other load on the machine affects all: on a quiet machine, then next to a process that takes a core,
    and regard with two threads on one core, where threads that wait for each other lose the most."""
    if corpus in load_rows(TIMES):
        return
    scored = load_rows(PEERS_FILE)[corpus]["peers"]
    fasttext = {name: row for name, row in scored.items() if PEERS[name].kind == "fasttext"}
    chosen = {"peer": best_by("dev", scored), "fasttext": best_by("dev", fasttext)}
    runs: dict[str, dict[str, list[Taken]]] = {}
    for condition in CONDITIONS:
        for _ in range(REPETITIONS):
            for system in ("regard", "one model", *chosen):
                if condition == "one core, two threads" and system in chosen:
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    command = training_command(corpus, system, chosen.get(system), Path(folder) / "out")
                    runs.setdefault(condition, {}).setdefault(system, []).append(taken(command, condition))
    medians = {
        condition: {
            system: [round(statistics.median(clock), 2) for clock in zip(*values, strict=True)]
            for system, values in systems.items()
        }
        for condition, systems in runs.items()
    }
    row = {
        **{
            who: {"name": name, "setting": peer["setting"], "test": peer["test_mean"]}
            for who, (name, peer) in chosen.items()
        },
        "columns": ["wall clock, s", "CPU time, s"],
        "seconds": runs,
        "median": medians,
    }
    save_row(TIMES, "times", corpus, row)
    print(f"{corpus}: {json.dumps(medians)}", flush=True)


def training_command(corpus: str, system: str, chosen: tuple[str, Row] | None, out: Path) -> list[str]:
    if chosen is None:
        return [*regard_command(corpus, out), *(["--members", "1"] if system == "one model" else [])]
    name, peer = chosen
    script = str(Path(__file__).with_name("peers.py"))
    return [sys.executable, script, corpus, name, json.dumps(peer["setting"]), str(out)]


def taken(command: Sequence[str], condition: str) -> Taken:
    """Wall clock and CPU time of a command, with its children."""
    environment = dict(os.environ)
    if condition == "one core, two threads":
        command = ["taskset", "--cpu-list", "0", *command]
        environment["OMP_NUM_THREADS"] = "2"
    before = cpu_of_children()
    with neighbour() if condition == "busy neighbour" else nullcontext():
        wall = timed(command, environment)
        cpu = cpu_of_children() - before  # the neighbour's is added when it ends
    return round(wall, 2), round(cpu, 2)


@contextmanager
def neighbour() -> Iterator[None]:
    """Another process that keeps a core busy."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


# The table


def best_by(part: str, rows: dict[str, Row]) -> tuple[str, Row]:
    """The peer that is best on dev (which a user can know) or on test (which nobody can)."""
    name = max(rows, key=lambda name: rows[name][f"{part}_mean"])
    return name, rows[name]


def difference(pairs: Sequence[tuple[Row, Row]]) -> tuple[float, float]:
    """Mean over corpora of regard − peer on test, and half its 95 % interval over seeds (Welch's)."""
    means = [ours["test_mean"] - theirs["test_mean"] for ours, theirs in pairs]
    errors = [np.var(row["test"], ddof=1) / len(row["test"]) for pair in pairs for row in pair]
    total = sum(errors)
    if total == 0:
        return float(np.mean(means)), 0.0
    freedom = total**2 / sum(error**2 / (len(SEEDS) - 1) for error in errors)
    return float(np.mean(means)), float(stats.t.ppf(0.975, freedom) * math.sqrt(total) / len(pairs))


def table(peers: dict[str, Row], regard: dict[str, Row], times: dict[str, Row]) -> str:
    lines = [
        "Written by `python benchmarks/accuracy.py table`. Test accuracy in percent, mean over five seeds ± half the 95 %",
        "interval over seeds; the variance of sampling the test texts is not included. The best peer is the one with the highest",
        "mean on dev. *Highest on test* is the peer that is best on test: not a fair choice, but the strongest opponent.",
        "",
        "| corpus | test texts | best peer | its setting | peer | regard | regard − peer | highest on test | regard − highest |",
        "|---" * 9 + "|",
    ]
    for title, corpora in (("development", DEVELOPMENT), ("others", OTHERS)):
        by_dev, by_test = [], []
        for corpus in corpora:
            if corpus not in peers:
                continue
            (name, row), (top, highest) = (best_by(part, peers[corpus]["peers"]) for part in ("dev", "test"))
            cells = [corpus, str(peers[corpus]["test_texts"]), name, as_text(row["setting"]), shown(row, "test")]
            ours = regard.get(corpus)
            if ours is not None:
                by_dev.append((ours, row))
                by_test.append((ours, highest))
            cells += [shown(ours, "test"), signed([by_dev[-1]])] if ours else ["", ""]
            cells += [f"{top} {shown(highest, 'test')}", signed([by_test[-1]]) if ours else ""]
            lines.append("| " + " | ".join(cells) + " |")
        if by_dev:
            means = [f"{np.mean([pair[who]['test_mean'] for pair in by_dev]):.2f}" for who in (1, 0)]
            top = f"{np.mean([pair[1]['test_mean'] for pair in by_test]):.2f}"
            head = f"**{title}, mean of {len(by_dev)}**"
            lines.append(f"| {head} | | | | {' | '.join(means)} | {signed(by_dev)} | {top} | {signed(by_test)} |")
    lines += ["", *every_peer(peers)]
    if times:
        lines += [
            "",
            f"Seconds from file to saved model, median of {REPETITIONS} alternating runs in new processes: wall clock (CPU).",
            "",
        ]
        lines += ["| corpus | | regard | one model | best peer | | fastText | |", "|---" * 8 + "|"]
        for corpus, row in times.items():
            for condition, systems in row["median"].items():
                ours, one, theirs, fasttext = (
                    clocks(systems.get(who)) for who in ("regard", "one model", "peer", "fasttext")
                )
                named = [row[who]["name"] if who in systems else "" for who in ("peer", "fasttext")]
                cells = [corpus, condition, ours, one, theirs, named[0], fasttext, named[1]]
                lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def clocks(median: Sequence[float] | None) -> str:
    return "" if median is None else f"{median[0]:.1f} ({median[1]:.1f})"


def every_peer(peers: dict[str, Row]) -> Iterator[str]:
    yield "All peers on test, each with its best setting:"
    yield ""
    yield "| corpus | " + " | ".join(PEERS) + " |"
    yield "|---" * (len(PEERS) + 1) + "|"
    for corpus in DEVELOPMENT + OTHERS:
        if corpus in peers:
            rows = peers[corpus]["peers"]
            cells = [shown(rows[name], "test") if name in rows else "" for name in PEERS]
            yield f"| {corpus} | " + " | ".join(cells) + " |"


def signed(pairs: Sequence[tuple[Row, Row]]) -> str:
    mean, half = difference(pairs)
    return f"{mean:+.2f} ± {half:.2f}"


if __name__ == "__main__":
    # threads that spin while they wait would slow down everything else
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    main()

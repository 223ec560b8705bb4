"""Continuing a run with new texts (`regard train --from`) against training again on all texts.

    REGARD_DATA=… python benchmarks/growing.py rules      # what is kept of Adagrad's sums, and how many epochs
    REGARD_DATA=… python benchmarks/growing.py changes    # new classes, and labels that have changed
    REGARD_DATA=… python benchmarks/growing.py ten        # ten percent new texts: time from files to run folders, and accuracy
    REGARD_DATA=… python benchmarks/growing.py ten --test # the same, scored on the test split, which nothing else here reads

`--save` writes the part into results/growing.json. Unless `--test` is given, texts are drawn from the train and dev splits of
development corpora, and models are scored on up to 4,000 other texts of these splits. Times are measured in one process, one way
after the other; CPU times are those of all threads.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures, source_commit

from regard.config import Config
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.records import Example
from regard.runs import Plan, start_from, train_run
from regard.training import growth
from regard.training.continuation import Origin
from regard.training.fit import Parts, fit

sys.path.insert(0, str(Path(__file__).parent / "leaderboard"))
from cells import drawn_rows, read_rows

RESULTS = Path(__file__).parent / "results" / "growing.json"
SMALL = ("trec", "sst1", "mr", "subj")
LARGE = ("ag_news", "imdb")
SCORED = 4000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("rules", "changes", "ten"))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    part = f"{arguments.part} (test)" if arguments.test else arguments.part
    measure = {"rules": rules, "changes": changes, "ten": ten}[arguments.part]
    rows = measure(arguments.draws, arguments.test) if measure is ten else measure(arguments.draws)
    print(json.dumps(rows, indent=1))
    if arguments.save:
        before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        facts = {"draws": arguments.draws, "commit": source_commit(), "machine": machine("numpy", "numba")}
        save_figures(RESULTS, {**before, part: {**rows, **facts}})


def draw(corpus: str, number: int, share: float) -> tuple[list[Example], list[Example], list[Example]]:
    """Old texts, new texts, and texts to score."""
    texts, labels, _ = read_rows(corpus, ("train", "dev"))
    order = drawn_rows(corpus, len(texts), 0, number)
    rows = [Example(texts[row], labels[row], int(row)) for row in order]
    scored, rest = np.split(np.arange(len(rows)), [min(SCORED, len(rows) // 4)])
    new = round(len(rest) * share)
    return [rows[k] for k in rest[new:]], [rows[k] for k in rest[:new]], [rows[k] for k in scored]


def accuracy(model: Trained, examples: Sequence[Example]) -> float:
    predicted = model.task.predictions(model.answers([example.text for example in examples]))
    return 100 * float(np.mean([one.value == example.label for one, example in zip(predicted, examples, strict=True)]))


def first(examples: list[Example], seed: int) -> Trained:
    kind = "multiclass" if len({example.label for example in examples}) > 2 else "binary"
    return fit(Config().override({"seed": seed, "task": kind}), Parts(examples))


def further(old: Trained, examples: list[Example], replay: list[Example] | None = None, **options: Any) -> Trained:
    reopened = {"epochs": None, "patience": None, "select": None, "deterministic": None}
    return fit(old.config.override({**reopened, **options}), Parts(examples, origin=Origin(old, replay=replay)))


def mean(rows: list[dict[str, float]]) -> dict[str, float]:
    return {key: round(float(np.mean([row[key] for row in rows])), 2) for key in rows[0]}


# what a run keeps of Adagrad's sums
def all_of_them(squares: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: np.stack([one[name] for one in squares]) for name in squares[0]}


def rules(draws: int) -> dict[str, Any]:
    """Ten percent new texts: difference in accuracy from training again on all texts."""
    from regard.training import fit_sparse

    means = growth.by_member
    per_member = {
        "one per unit": means,
        "all": lambda kept, members: [{name: value[m] for name, value in kept.items()} for m in range(members)],
        "none": lambda kept, members: [{name: 0 * value[m] for name, value in kept.items()} for m in range(members)],
    }
    results: dict[str, Any] = {}
    for corpus in SMALL:
        rows = []
        for number in range(draws):
            old_texts, new_texts, scored = draw(corpus, number, 0.1)
            fit_sparse.kept_squares = all_of_them
            old = first(old_texts, number)
            every_sum, again = old.accumulators, accuracy(first([*old_texts, *new_texts], number), scored)
            row = {"again": again, "old": accuracy(old, scored) - again}
            for kept, rule in per_member.items():
                growth.by_member = rule
                old.accumulators = every_sum
                if rule is means:
                    assert every_sum is not None
                    old.accumulators = {**every_sum, growth.EMBEDDING: every_sum[growth.EMBEDDING].mean(-1)}
                for epochs in (1, 3):
                    name = f"{kept}, {epochs} epoch{'s' * (epochs > 1)}"
                    row[name] = accuracy(further(old, new_texts, epochs=epochs), scored) - again
            rows.append(row)
        results[corpus] = mean(rows)
        print(corpus, results[corpus], flush=True)
    return {**results, "mean": mean(list(results.values()))}


def changes(draws: int) -> dict[str, Any]:
    """A fifth of the texts is new; what changes there: nothing, one class is new, only it occurs, or two classes are swapped."""
    results: dict[str, Any] = {}
    for corpus in ("trec", "ag_news", "subj"):
        rows = [measured for number in range(draws) for measured in changed(corpus, number)]
        names = list(dict.fromkeys(name for name, _ in rows))
        results[corpus] = {name: mean([row for other, row in rows if other == name]) for name in names}
        print(json.dumps({corpus: results[corpus]}, indent=1), flush=True)
    return results


def changed(corpus: str, number: int) -> Iterator[tuple[str, dict[str, float]]]:
    old_texts, new_texts, scored = draw(corpus, number, 0.2)
    names = sorted({str(example.label) for example in old_texts})
    last = names[-1]
    without = [example for example in old_texts if example.label != last]
    if len(names) > 2:
        yield "a new class", compared(without, new_texts, scored, number, last)
        only = [example for example in new_texts if example.label == last]
        yield "only the new class", compared(without, only, scored, number, last)
    swap = {names[0]: last, last: names[0]}
    swapped, truth = (
        [replace(example, label=swap.get(str(example.label), example.label)) for example in rows]
        for rows in (new_texts, scored)
    )
    yield "two classes swapped", compared(old_texts, swapped, truth, number, last)


def compared(
    old_texts: list[Example], new_texts: list[Example], scored: list[Example], seed: int, name: str
) -> dict[str, float]:
    """Accuracy on all scored texts, and on those of one class."""
    old = first(old_texts, seed)
    models = {
        "old model": old,
        "continued": further(old, new_texts),
        "continued with replay": further(old, new_texts, old_texts),
        "all texts": first([*old_texts, *new_texts], seed),
    }
    of_class = [example for example in scored if example.label == name]
    measured = {title: accuracy(model, scored) for title, model in models.items()}
    return measured | {f"{title}, class": accuracy(model, of_class) for title, model in models.items()}


def ten(draws: int, on_test: bool) -> dict[str, Any]:
    """From files to run folders, both ways, one after the other."""
    results: dict[str, Any] = {}
    for corpus in LARGE:
        rows = []
        for number in range(draws):
            old_texts, new_texts, scored = draw(corpus, number, 0.1)
            if on_test:
                old_texts += scored[len(scored) // 10 :]
                new_texts += scored[: len(scored) // 10]
                texts, labels, _ = read_rows(corpus, ("test",))
                scored = [Example(text, label) for text, label in zip(texts, labels, strict=True)]
            rows.append(both_ways(old_texts, new_texts, scored, number))
            print(corpus, rows[-1], flush=True)
        results[corpus] = mean(rows)
    return results


def both_ways(old_texts: list[Example], new_texts: list[Example], scored: list[Example], seed: int) -> dict[str, float]:
    kind = "multiclass" if len({example.label for example in old_texts}) > 2 else "binary"
    config = Config().override({"seed": seed, "task": kind, "text": "text", "label": "label"})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, rows in (("old", old_texts), ("new", new_texts), ("all", [*old_texts, *new_texts])):
            lines = (json.dumps({"text": row.text, "label": row.label}) + "\n" for row in rows)
            (folder / f"{part}.jsonl").write_text("".join(lines))
        old, _ = train_run(
            config.override({"train": str(folder / "old.jsonl")}), folder / "old", False, False, Silent()
        )
        clocks = [(time.perf_counter(), time.process_time())]
        again, _ = train_run(
            config.override({"train": str(folder / "all.jsonl")}), folder / "all", False, False, Silent()
        )
        clocks.append((time.perf_counter(), time.process_time()))
        given = {"train": str(folder / "new.jsonl"), "seed": seed}
        continued, origin = start_from(str(folder / "old"), None, given, Silent())
        more, _ = train_run(continued, folder / "new", False, False, Silent(), (), Plan(origin=origin))
        clocks.append((time.perf_counter(), time.process_time()))
        size = sum(file.stat().st_size for file in (folder / "old").iterdir())
        extra = (folder / "old" / "optimizer.safetensors").stat().st_size
    again_time, more_time = np.diff(clocks, axis=0).tolist()
    return {
        "old": accuracy(old, scored),
        "all texts": accuracy(again, scored),
        "continued": accuracy(more, scored),
        "seconds of all texts": again_time[0],
        "seconds of continuing": more_time[0],
        "time ratio, percent": 100 * more_time[0] / again_time[0],
        "CPU time ratio, percent": 100 * more_time[1] / again_time[1],
        "share of optimizer.safetensors in the folder, percent": 100 * extra / size,
    }


if __name__ == "__main__":
    main()

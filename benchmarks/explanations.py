"""Whether explanations mislead: signs of words, compared with leaving them out and with Shapley values, and faithfulness.

    REGARD_DATA=… python benchmarks/explanations.py signs [CORPUS …] [--save]          the fast engine's colours
    REGARD_DATA=… python benchmarks/explanations.py shapley [CORPUS …] [--save]        the same against Shapley values
    REGARD_DATA=… python benchmarks/explanations.py faithfulness [CORPUS …] [--part dev] [--models FOLDER] [--save]
    python benchmarks/explanations.py table                             write the saved results into docs/explanations.md

`signs` and `shapley` need about ten minutes of CPU time each, `faithfulness` 15 per part. `--save` adds the figures of each
corpus to results/explanations.json as soon as they are measured; the tables are in docs/explanations.md. Settings were chosen
on dev texts (`--part dev`), and the defaults of the package were set by them before the test texts were read. `--models` keeps
trained models for another part.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import torch
from explained_models import MODELS, SEED
from explainer_faithfulness import measure_faithfulness
from explanation_tables import tables
from figures import machine, source_commit
from shapley import measure_shapley
from word_signs import TOLERANCE, measure_signs

RESULTS = Path(__file__).parent / "results" / "explanations.json"
LIST = re.compile(r"\[[^\[\]{}]*\]")  # of numbers, on one line
TABLE = re.compile(r"\A(?:\|.*\n)*")
PAGE = Path(__file__).parent.parent / "docs" / "explanations.md"
SHORT_AND_LONG = ("sst2", "trec", "ag_news", "yelp_small", "20newsgroups")
WITH_SENTENCES = ("sst2", "ag_news", "yelp_small")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("signs", "shapley", "faithfulness", "table"))
    parser.add_argument("corpora", nargs="*", metavar="CORPUS")
    parser.add_argument(
        "--texts", type=int, help="per corpus (default: 2000 for signs, 500 for shapley, 200 for faithfulness)"
    )
    parser.add_argument("--part", choices=("dev", "test"), default="test", help="for faithfulness (default: test)")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="keep the trained models of faithfulness here")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    if arguments.what == "table":
        write_tables(tables(json.loads(RESULTS.read_text(encoding="utf-8"))))
        return
    torch.set_num_threads(1)  # CPU time of one thread: several would also count the time that they wait for each other
    for corpus in arguments.corpora or (WITH_SENTENCES if arguments.what == "faithfulness" else SHORT_AND_LONG):
        for keys, figures in measured(arguments, corpus):
            print(json.dumps({" / ".join(keys): figures}, indent=1), flush=True)
            if arguments.save:
                save(arguments.what, keys, figures)


def measured(arguments: argparse.Namespace, corpus: str) -> Any:
    """The keys of each result below its section, and its figures."""
    if arguments.what == "signs":
        yield (corpus,), measure_signs(corpus, arguments.texts or 2000)
    elif arguments.what == "shapley":
        yield (corpus,), measure_shapley(corpus, arguments.texts or 500)
    else:
        part, texts = arguments.part, arguments.texts or 200
        # the default of a flat model is not a choice between costs: leaving words out is exact and as cheap as the others
        for model in MODELS if part == "test" else [name for name, options in MODELS.items() if options]:
            yield (part, corpus, model), measure_faithfulness(corpus, model, part, texts, arguments.models)


def save(section: str, keys: tuple[str, ...], figures: dict[str, Any]) -> None:
    """Add one result; the others stay."""
    saved = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    saved["seed"], saved["tolerance"] = SEED, TOLERANCE
    saved["machine"] = machine("regard", "numpy", "numba", "torch")
    place = saved.setdefault(section, {})
    for key in keys[:-1]:
        place = place.setdefault(key, {})
    place[keys[-1]] = {"source": source_commit(), **rounded(figures)}
    written = LIST.sub(lambda found: " ".join(found[0].split()), json.dumps(saved, indent=1, ensure_ascii=False))
    RESULTS.write_text(written + "\n", encoding="utf-8")


def write_tables(written: dict[str, str]) -> None:
    """Replace the table after each comment that names one."""
    page = PAGE.read_text(encoding="utf-8")
    for name, table in written.items():
        before, marker, after = page.partition(f"<!-- table: {name} -->\n\n")
        if not marker:
            raise SystemExit(f"{PAGE.name}: expected a comment that names the table {name}, got none")
        rest = TABLE.sub("", after, count=1).lstrip("\n")
        page = f"{before}{marker}{table}\n\n{rest}"
    PAGE.write_text(page, encoding="utf-8")


def rounded(figures: Any) -> Any:
    """With six significant digits."""
    if isinstance(figures, dict):
        return {name: rounded(value) for name, value in figures.items()}
    if isinstance(figures, list):
        return [rounded(value) for value in figures]
    return float(f"{figures:.6g}") if isinstance(figures, float) else figures


if __name__ == "__main__":
    main()

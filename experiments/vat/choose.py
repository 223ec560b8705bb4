"""Copy the settings chosen on dev (choice, bert_choice) into the tables of experiments/vat.

    python experiments/vat/choose.py [--write]

Without --write it prints what would change. The rules are those in the notes of the two tables; a corpus that was not tried
keeps the options of the methods.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
ROUNDS = 5
BETAS = {"vat-001": 0.01, "vat-01": 0.1, "vat-1": 1.0, "vat-10": 10.0}
DROPOUTS = {"d-02": 0.2, "d-05": 0.5}
COMPRESSORS = {
    "c3": 3e-4,
    "c10": 1e-3,
}  # the compressor's learning rate, tried as vat-01-c3 and so on; otherwise it is lr
RATES = {"r-2": 2e-5, "r-5": 5e-5, "r-8": 8e-5}
LIKE = {"sst_trees": "sst2"}  # the same sentences
HALF = ("imdb",)  # BERT is trained on these long texts in bfloat16: needed, not chosen


class Try(NamedTuple):
    accuracy: float
    best_round: int  # of purified attention


Tries = Mapping[tuple[str, str, str], Try]  # (corpus, method, setting)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="change the tables")
    arguments = parser.parse_args()
    lstm, bert = chosen(read("choice")), bert_chosen(read("bert_choice"))
    for path in sorted(FOLDER.glob("*.toml")):
        if path.stem in ("choice", "bert_choice", "corpora"):
            continue
        old = path.read_text(encoding="utf-8")
        new = with_bert(with_tuned(old, lstm), bert)
        if new != old:
            print(f"{path.name}: {'changed' if arguments.write else 'would change'}")
            if arguments.write:
                path.write_text(new, encoding="utf-8")


def read(name: str) -> Tries:
    path = FOLDER / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    return {
        (row["corpus"], row["method"], row["setting"]): Try(
            row["dev"]["accuracy"], (row["best_epoch"] - row["epochs"]) // 2 + ROUNDS
        )
        for row in rows
        if row["seed"] == 0 and "error" not in row
    }


def best(tries: Mapping[Any, float]) -> Any:
    """The best of them; ties go to the first, which is the smaller number."""
    return max(tries, key=lambda name: tries[name]) if tries else None


def chosen(tries: Tries) -> dict[str, dict[str, dict[str, Any]]]:
    """By corpus and method: dropout for base and ATT; for VAT the best β at ATT's dropout, then the other dropout at this β."""
    tuned: dict[str, dict[str, dict[str, Any]]] = {}
    for corpus in dict.fromkeys(corpus for corpus, _, _ in tries):

        def of(method: str, corpus: str = corpus) -> dict[str, float]:
            options = {setting: tries.get((corpus, method, setting)) for setting in DROPOUTS}
            return {setting: one.accuracy for setting, one in options.items() if one}

        base, att = best(of("base")), best(of("att"))
        if base is None or att is None:
            continue
        judge = DROPOUTS[base]
        options: dict[str, dict[str, Any]] = {
            "random": {"dropout": judge, "judge_dropout": judge},
            "base": {"dropout": judge, "judge_dropout": judge},
            "att": {"dropout": DROPOUTS[att], "judge_dropout": judge},
        }
        beta = best({method: of(method)[att] for method in BETAS if att in of(method)})
        if beta is not None:
            first = {att: of(beta)[att], **of(beta)}
            dropout = best(first)
            rounds = tries[corpus, beta, dropout].best_round
            options["att-head"] = {"dropout": DROPOUTS[dropout], "judge_dropout": judge}
            options["vat"] = {
                "dropout": DROPOUTS[dropout],
                "judge_dropout": judge,
                "beta": BETAS[beta],
                "rounds": rounds,
            }
        tuned[corpus] = options
    return tuned | {copy: tuned[source] for copy, source in LIKE.items() if source in tuned}


def bert_chosen(tries: Tries) -> dict[str, float | None]:
    """One learning rate, β and compressor's learning rate for all corpora, by the best mean: the rate for attention, then β at
    this rate, then the compressor's rate at both (None: `lr`), then VAT's rate at those (None: that of attention)."""

    def means(methods: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[tuple[str, str], float]:
        """Sums over the corpora on which all of these combinations were tried, ignoring those that were never tried."""
        combinations = [(method, setting) for method in methods for setting in settings]
        where = {
            combination: {corpus for corpus, *tried in tries if tuple(tried) == combination}
            for combination in combinations
        }
        where = {combination: corpora for combination, corpora in where.items() if corpora}
        shared = set.intersection(*where.values()) if where else set()
        # fsum is exact: a plain sum depends on the order of the set, which differs between runs
        return {
            combination: math.fsum(tries[corpus, *combination].accuracy for corpus in shared) for combination in where
        }

    rate = best(means({"att": None}, RATES))
    if rate is None:
        return {}
    beta = best(means(BETAS, {rate[1]: None}))
    if beta is None:
        return {"lr": RATES[rate[1]]}
    methods = {beta[0]: None, **{f"{beta[0]}-{name}": value for name, value in COMPRESSORS.items()}}
    method = best(means(methods, {rate[1]: None}))[0]
    purified = best(means({method: None}, {rate[1]: None, **RATES}))[1]
    return {
        "lr": RATES[rate[1]],
        "beta": BETAS[beta[0]],
        "compressor_lr": methods[method],
        "vat_lr": None if purified == rate[1] else RATES[purified],
    }


def with_tuned(text: str, tuned: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """The table with new [tuned] sections, for its corpora and methods and with keys that its kind has."""
    corpora, methods = (re.findall(rf"^\[{kind}\.([\w-]+)\]", text, re.MULTILINE) for kind in ("corpora", "methods"))
    judged = 'judge = "' in text
    by_round = "by_round = true" in text
    parts = []
    for corpus in corpora:
        for method in methods:
            options = {
                name: value
                for name, value in tuned.get(corpus, {}).get(method, {}).items()
                if (name != "judge_dropout" or judged) and (name != "rounds" or not by_round)
            }
            if corpus in HALF and method.startswith("bert-"):
                options["bf16"] = True
            if options:
                lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in options.items())
                parts.append(f"[tuned.{corpus}.{method}]\n{lines}\n")
    bare = re.sub(r"^\[tuned\.[^\]]+\]\n(?:[^\[\n].*\n)*\n?", "", text, flags=re.MULTILINE)
    position = re.search(r"^\[(?:printed\.|\[compare)", bare, re.MULTILINE)
    where = position.start() if position else len(bare)
    before = bare[:where].rstrip("\n") + "\n\n"
    return (before + "".join(parts) + bare[where:]).rstrip("\n") + "\n"


def with_bert(text: str, options: Mapping[str, float | None]) -> str:
    """The table with new options for every method with word pieces. VAT's judge has the learning rate of the other judges."""
    compressor, vat = options.get("compressor_lr"), options.get("vat_lr")

    def changed(block: re.Match[str]) -> str:
        section = re.sub(r"^(?:compressor_lr|judge_lr) = .*\n", "", block.group(0), flags=re.MULTILINE)
        for name in ("lr", "beta"):
            if name in options:
                section = re.sub(rf"^{name} = .*$", f"{name} = {options[name]}", section, flags=re.MULTILINE)
        if compressor is not None:
            section = re.sub(r"^(beta = .*)$", rf"\1\ncompressor_lr = {compressor}", section, flags=re.MULTILINE)
        if vat is not None and 'pooling = "bottleneck"' in section:
            section = re.sub(r"^lr = .*$", f"lr = {vat}", section, flags=re.MULTILINE)
            section = re.sub(r"^(judge = .*)$", rf"\1\njudge_lr = {options['lr']}", section, flags=re.MULTILINE)
        return section

    return re.sub(r'^\[methods\.[\w-]+\]\n(?:.+\n)*?encoder = "bert"\n(?:.+\n)*', changed, text, flags=re.MULTILINE)


if __name__ == "__main__":
    main()

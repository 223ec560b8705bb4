"""MR (Pang and Lee 2005), Subj (2004) and CR (Hu and Liu 2004): two classes in two files, one sentence per line."""

from __future__ import annotations

from regard.corpora.source import Source
from regard.corpora.splits import Record, Splits, in_folds

FILES = {  # name endings of the files of labels 0 and 1
    "mr": ("rt-polarity.neg", "rt-polarity.pos"),
    "cr": ("custrev.neg", "custrev.pos"),
    "subj": ("quote.tok.gt9.5000", "plot.tok.gt9.5000"),
}


def convert(source: Source, name: str) -> Splits:
    rows: tuple[list[Record], list[Record]] = ([], [])
    names = "|".join(ending.replace(".", r"\.") for ending in FILES[name])
    for file in source.files(rf"/({names})(?:\.txt)?$"):
        label = FILES[name].index(file.group(1))
        rows[label].extend({"text": line.strip(), "label": label} for _, line in file.filled_lines(latin=True))
    missing = [FILES[name][label] for label, members in enumerate(rows) if not members]
    if len(missing) == 1:
        raise source.mismatch(f"{missing[0]} next to {next(ending for ending in FILES[name] if ending not in missing)}")
    return in_folds([*rows[0], *rows[1]]) if not missing else {}

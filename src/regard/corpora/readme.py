"""The README that stands beside a converted corpus: where it comes from, how it was divided, what is in it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from regard.corpora.catalogue import Original
from regard.corpora.tally import MOST_LABELS, Tally
from regard.markdown_text import plain

MOST_FILES = 20  # more than this are summed up


def readme(
    name: str,
    source: str,
    original: Original | None,
    tallies: Mapping[str, Tally],
    digests: Mapping[str, str],
    remarks: Sequence[str],
) -> str:
    if original is not None:
        lines = [
            f"# {name}\n\n{original.title}\n",
            f"- Origin: {plain(source)}, by `regard datasets {name} --from`; the public original: {original.address}",
            f"- Licence: {original.licence}.",
            f"- Citation: {original.citation}.",
            f"- Form and split: {original.split}.",
            f"- Labels: {original.labels}",
        ]
    else:
        # the line below the heading is shown again as the title of the corpus, in a terminal: it stays as it is
        lines = [
            f"# {name}\n\n{name}, from {source}\n",
            f"- Origin: {plain(source)}, by `regard datasets {name} --from`",
        ]
        lines += ["- Licence: as where it comes from."]
    lines += [f"- Note: {plain(remark)}." for remark in remarks]
    lines += ["\nOne JSON object a line, UTF-8, gzip.\n", "| file | records | mean words | counts |"]
    lines += ["| --- | --- | --- | --- |", *(_row(part, tally) for part, tally in tallies.items())]
    fields = dict.fromkeys(key for tally in tallies.values() for key in tally.fields)
    lines += [f"\nFields: {plain(', '.join(fields))}"]
    if digests:
        lines += ["\nSHA-256 of what was read:\n", *_digests(digests)]
    return "\n".join(lines) + "\n"


def _row(part: str, tally: Tally) -> str:
    mean = round(tally.words / tally.rows) if tally.rows else 0
    return f"| {part}.jsonl.gz | {tally.rows} | {mean} | {_labels(tally)} |"


def _labels(tally: Tally) -> str:
    if not tally.labels or len(tally.labels) > MOST_LABELS:
        return ""
    counted = sorted(tally.labels.items())
    heading = counted[0][0].split(" ", 1)[0]
    return plain(f"{heading}: " + ", ".join(f"{label.split(' ', 1)[1]}: {count}" for label, count in counted))


def _digests(digests: Mapping[str, str]) -> list[str]:
    """Each file's, in the form of `sha256sum`; of many files the digest of that list."""
    listing = [f"{digest}  {name}" for name, digest in sorted(digests.items())]
    if len(listing) > MOST_FILES:
        whole = hashlib.sha256("".join(line + "\n" for line in listing).encode()).hexdigest()
        return [f"    {whole}  of the list of {len(listing)} files and their digests, in order of name"]
    return [f"    {line}" for line in listing]

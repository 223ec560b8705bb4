"""Generated parts of documents: what stands between `<!-- NAME: written by make evidence -->` and `<!-- end of NAME -->`.

Pages that explain results in prose contain their numbers as such blocks, from the same code as the page of evidence, so that
the two cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from regard.errors import InputError

BLOCK = re.compile(r"(<!-- (?P<name>[\w-]+): written by make evidence -->\n).*?(<!-- end of (?P=name) -->)", re.DOTALL)


def fill(document: str, blocks: Mapping[str, str], where: str) -> str:
    """The document with these contents in its blocks; every block must have one, and the other way round."""
    names = [match["name"] for match in BLOCK.finditer(document)]
    if sorted(names) != sorted(blocks):
        raise InputError(
            f"{where}: expected the generated blocks {sorted(blocks)}, got {sorted(names)}; correct the marks"
        )
    # empty lines around it: a table next to a comment would not be rendered as one
    return BLOCK.sub(lambda match: f"{match[1]}\n{blocks[match['name']].rstrip()}\n\n{match[3]}", document)

"""`regard vectors distill`: static vectors of word pieces from a sentence-transformers model, with model2vec."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser
from regard.report.text.characters import print_line


def add_arguments(parser: Parser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=Parser)
    purpose = "make static vectors from a sentence-transformers model; takes minutes and needs model2vec"
    distill = actions.add_parser("distill", help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
    distill.add_argument("model", metavar="FOLDER", help="folder of a sentence-transformers model")
    distill.add_argument("--out", required=True, metavar="FOLDER", help="new folder for the vectors")
    distill.add_argument(
        "--width", type=int, default=256, metavar="N", help="width of a vector, by principal components (default: 256)"
    )


def run(arguments: argparse.Namespace) -> None:
    from regard.distilling import distill

    vectors = distill(Path(arguments.model), Path(arguments.out), arguments.width)
    pieces, width = vectors.table.shape
    print_line(f"{arguments.out}: vectors of {pieces:,} word pieces, {width} dimensions")
    print_line(f"try: regard train FILE --vectors {arguments.out}")

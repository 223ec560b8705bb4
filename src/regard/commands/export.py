"""`regard export`: a trained model as an ONNX folder or as one offline page."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser
from regard.commands.reading import add_folder, load_run
from regard.extras import require
from regard.report.text.characters import print_line


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    parser.add_argument(
        "--format",
        choices=("onnx", "page"),
        required=True,
        help="onnx: a folder for `regard.runtime` and other programs; page: one HTML file that answers in a browser, offline",
    )
    parser.add_argument(
        "--out", type=Path, metavar="PATH", required=True, help="the folder (onnx) or the HTML file (page) to write"
    )


def run(arguments: argparse.Namespace) -> None:
    from regard.models.hub import local_folder, pinned

    if arguments.format == "onnx":
        require("onnx", "--format onnx")  # first, because its extra also installs PyTorch
    run_address = pinned(arguments.folder)
    trained, source = load_run(run_address, "cpu", not arguments.no_verify), local_folder(run_address)
    if arguments.format == "page":
        from regard.export.page import export_page

        page = export_page(trained, source, arguments.out)
        print_line(
            f"{page.size / 1e6:.1f} MB, tables in {page.precision}; on {page.texts:,} made-up texts their probabilities are "
            f"within {page.difference:.0e} of the model's"
        )
        print_line(f"open {arguments.out}")
        return
    from regard.export.onnx_folder import export_onnx

    verified = export_onnx(trained, source, arguments.out)
    print_line(
        f"compared with PyTorch on {verified.texts} made-up texts of up to {verified.longest} ids: logits differ by at most "
        f"{verified.logits:.1e}, weights by {verified.weights:.1e}"
    )
    print_line(
        f'saved in {arguments.out}; try: python -c "import regard.runtime; '
        f"print(regard.runtime.load('{arguments.out}').predict(['your text']))\""
    )

"""`regard serve`: the page and the JSON API of one or two runs."""

from __future__ import annotations

import argparse
import typing

from regard.arguments import Parser
from regard.commands.reading import A_RUN, add_device, add_model, check_model, load_model

if typing.TYPE_CHECKING:
    from regard.models.model import Model

PORT = 8642


def add_arguments(parser: Parser) -> None:
    parser.add_argument("folders", metavar="RUN", nargs="+", help=f"{A_RUN}; two are shown side by side")
    add_model(parser)
    parser.add_argument(
        "--port", type=int, default=PORT, metavar="N", help=f"port to listen on; 0: any free port (default: {PORT})"
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="explainer to start with (default: the model's; see `regard explain --help-all`)",
    )
    parser.add_argument("--target", metavar="CLASS", help="class to explain at first (default: the predicted one)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    add_device(parser)


def run(arguments: argparse.Namespace) -> None:
    from regard.serve.serve import Start, serve

    def load(folder: str) -> Model:
        return load_model(folder, arguments.device)

    start = Start(arguments.method, arguments.target)
    serve(arguments.folders, load, arguments.port, arguments.open, check_model, start)

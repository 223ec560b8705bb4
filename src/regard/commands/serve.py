"""`regard serve`: the page and the JSON API of one or two runs."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from regard.arguments import Parser
from regard.commands.reading import A_RUN_ANYWHERE, add_device, add_model, add_verify, check_model, load_model
from regard.errors import InputError
from regard.extras import sentence
from regard.serve.listening import HOST, PORT

if TYPE_CHECKING:
    from regard.models.model import Model


def add_arguments(parser: Parser) -> None:
    parser.add_argument("folders", metavar="RUN", nargs="+", help=f"{A_RUN_ANYWHERE}; two are shown side by side")
    add_model(parser)
    parser.add_argument(
        "--port", type=int, default=PORT, metavar="N", help=f"port to listen on; 0: any free port (default: {PORT})"
    )
    parser.add_argument(
        "--host", default=HOST, metavar="H", help=f"address to listen on (default: {HOST}, this machine only)"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="also answer requests to this name, for example that of a proxy; can be repeated",
    )
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes, each with its own model (default: 1)"
    )
    tokens = parser.add_mutually_exclusive_group()
    tokens.add_argument(
        "--token-file",
        metavar="FILE",
        help="file with the token that clients must send (default: REGARD_TOKEN, if it is set)",
    )
    tokens.add_argument(
        "--no-token", action="store_true", help="ask for no token, even if other machines can reach the server"
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="explainer to start with (default: the model's; see `regard explain --help-all`)",
    )
    parser.add_argument("--target", metavar="CLASS", help="class to explain at first (default: the predicted one)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    add_device(parser)
    add_verify(parser)


def run(arguments: argparse.Namespace) -> None:
    try:
        from regard.models.hub import pinned
        from regard.serve.serve import Address, serve
        from regard.serve.serving import Start
        from regard.serve.tokens import read_token
    except ModuleNotFoundError as error:
        raise InputError(sentence((error.name or "").partition(".")[0], "regard serve")) from None

    token = None if arguments.no_token else read_token(arguments.token_file)
    address = Address(arguments.host, arguments.port, arguments.allow_host, token, not arguments.no_token)
    # every worker process loads the same commit of a run on the hub, also one that is started later
    sources = {folder: pinned(folder) for folder in arguments.folders}
    load = functools.partial(
        load_source, sources, arguments.device, not arguments.no_verify
    )  # not a closure: worker processes need it too
    start = Start(arguments.method, arguments.target)
    serve(
        arguments.folders,
        load,
        address,
        arguments.open,
        lambda folder: check_model(sources[folder]),
        start,
        arguments.workers,
    )


def load_source(sources: Mapping[str, str], device: str, verify: bool, folder: str) -> Model:
    return load_model(sources[folder], device, verify)

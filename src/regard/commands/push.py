"""`regard push`: upload a run to the Hugging Face hub."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser
from regard.commands.reading import A_RUN, add_verify
from regard.errors import InputError
from regard.report.text.characters import print_line


def add_arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="RUN", help=A_RUN)
    add_verify(parser)
    parser.add_argument("name", metavar="USER/NAME", help="the repository on the hub; created if there is none")
    parser.add_argument("--public", action="store_true", help="let everyone see and download it (default: private)")
    parser.add_argument("--revision", metavar="NAME", help="branch to upload to (default: the main one)")


def run(arguments: argparse.Namespace) -> None:
    from regard.extras import require
    from regard.models.hub import is_on_hub
    from regard.models.push import prepare, push

    require("huggingface_hub", "regard push")
    if is_on_hub(arguments.folder):
        raise InputError(f"{arguments.folder}: expected {A_RUN}, got an address on the hub")
    upload = prepare(
        Path(arguments.folder), arguments.name, arguments.public, arguments.revision, not arguments.no_verify
    )
    print_line(f"uploading to {upload.address}, {'public' if upload.public else 'private'}:")
    for name in upload.files:
        print_line(f"  {name}  {upload.size(name):,} bytes")
    pushed = push(upload)
    print_line(f"uploaded: {pushed.url}")
    print_line(f'try: regard explain {pushed.address} "your text"')

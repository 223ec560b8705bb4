"""Load the trained model that a command works on: its folder and its device."""

from __future__ import annotations

import typing

from regard.arguments import Parser

if typing.TYPE_CHECKING:
    from regard.models.trained import Trained

A_RUN = "the folder that `regard train` wrote"


def add_folder(parser: Parser) -> None:
    parser.add_argument("folder", metavar="RUN", help=A_RUN)


def add_device(parser: Parser) -> None:
    parser.add_argument("--device", default="auto", help="cpu, cuda or auto")


def load_model(folder: str, device: str) -> Trained:
    from regard.models.folder import load

    trained = load(folder)
    if device == "cpu" or (device == "auto" and trained.is_flat):
        return trained  # on a CPU, a flat model predicts in less time than importing PyTorch takes
    from regard.models.device import choose_device

    chosen = str(choose_device(device))
    return trained if chosen == "cpu" else load(folder, chosen)

"""Read what a command works on: a trained model, and texts from a file, a named corpus, standard input or an argument."""

from __future__ import annotations

import argparse
import os
import sys
import typing
from dataclasses import replace
from pathlib import Path

from regard.arguments import Parser
from regard.errors import InputError

if typing.TYPE_CHECKING:
    from collections.abc import Sequence

    from regard.data.rationales import Rationales
    from regard.data.read_options import ReadOptions
    from regard.data.readers import Corpus
    from regard.models.model import Model
    from regard.models.trained import Trained
    from regard.records import Example


A_RUN = "the folder that `regard train` wrote"
A_RUN_ANYWHERE = f"{A_RUN}, or hf://USER/NAME@REVISION on the Hugging Face hub"
LARGE = 1 << 26  # bytes from which a file is streamed
WRAPPED = ("fasttext:", "hf:")  # models of other libraries that can be loaded without running code in them


def add_folder(parser: Parser) -> None:
    """The run; of commands that only need predictions, see `add_model`."""
    parser.add_argument("folder", metavar="RUN", help=A_RUN_ANYWHERE)
    add_verify(parser)


def add_escape_formulas(parser: Parser) -> None:
    parser.add_argument(
        "--escape-formulas",
        action="store_true",
        help="put ' before cells of CSV that a spreadsheet would run as formulas",
    )


def add_verify(parser: Parser) -> None:
    parser.add_argument(
        "--no-verify", action="store_true", help="load the run even if its files have changed since it was saved"
    )


def add_model(parser: Parser) -> None:
    """The option that names a model of another library. It takes the place of RUN, the first positional argument."""
    parser.add_leading(
        "--model", metavar="KIND:PATH", help="instead of RUN, another model: fasttext:FILE or hf:FOLDER (transformers)"
    )


def add_device(parser: Parser) -> None:
    parser.add_argument("--device", default="auto", help="cpu, cuda or auto")


def is_wrapped(folder: str) -> bool:
    """Whether it is a model of another library; hf:// is the address of a run."""
    return folder.startswith(WRAPPED) and not folder.startswith("hf://")


def run_folder(folder: str) -> Path:
    """Where files about a model are written: its run, or the current folder for one on the hub or of another library."""
    from regard.models.hub import is_on_hub

    return Path() if is_wrapped(folder) or is_on_hub(folder) else Path(folder)


def check_model(folder: str) -> None:
    """Refuse what is certainly not a model, before loading takes time."""
    from regard.models.hub import local_folder
    from regard.models.run_files import check_finished

    if is_wrapped(folder):
        path = folder.partition(":")[2]
        if not os.path.exists(path):
            raise InputError(f"{folder}: there is no {path!r}")
    else:
        check_finished(local_folder(folder))


def load_model(folder: str, device: str, verify: bool = True) -> Model:
    """A run, or a model of another library."""
    if not is_wrapped(folder):
        return load_run(folder, device, verify)
    from regard.adapters.sources import load_wrapped

    if device == "cpu" or folder.startswith("fasttext:"):
        return load_wrapped(folder)
    from regard.models.device import choose_device

    return load_wrapped(folder, str(choose_device(device)))


def load_run(folder: str, device: str, verify: bool = True) -> Trained:
    if is_wrapped(folder):
        raise InputError(f"{folder}: expected {A_RUN}, got a model of another library, which has no words to look up")
    from regard.models.folder import load
    from regard.models.hub import pinned

    folder = pinned(folder)
    trained = load(folder, verify=verify)
    if device == "cpu" or (device == "auto" and trained.is_flat):
        return trained  # on a CPU, a flat model predicts in less time than importing PyTorch takes
    from regard.models.device import choose_device

    chosen = str(choose_device(device))
    return trained if chosen == "cpu" else load(folder, chosen, verify=False)


def add_reading(parser: Parser, bad_rows: str = "skip rows that cannot be used") -> None:
    parser.add_argument("--text", metavar="COLUMN", help="text column (default: guessed)")
    parser.add_argument("--label", metavar="COLUMN", help="label column (default: guessed)")
    parser.add_argument("--skip-bad-rows", action="store_true", help=bad_rows)
    add_encoding(parser)
    add_device(parser)


def add_encoding(parser: Parser) -> None:
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="encoding of a text file, such as cp1252 or shift_jis (default: UTF-8, or by byte order mark)",
    )


def read_options(arguments: argparse.Namespace, trained: Model, source: str) -> ReadOptions:
    """Unless columns are named, those that the run was trained on are used, if the file has them.

    The run's encoding is that of the files it was trained and scored on, and not of others.
    """
    from regard.data.read_options import ReadOptions

    data = trained.data
    return ReadOptions(
        arguments.text,
        arguments.label,
        labelled=False,
        skip_bad_rows=arguments.skip_bad_rows,
        at_least=1,
        known=(data.text, data.label),
        encoding=arguments.encoding or (data.encoding if source in (data.train, data.dev, data.test) else None),
        several=data.task == "multilabel",
        label_separator=data.label_separator,
    )


def read_source(
    arguments: argparse.Namespace,
    trained: Model,
    source: str,
    labelled: bool = False,
    part: str = "test",
    rationales: Rationales | None = None,
    keep: Sequence[str] = (),
) -> Corpus:
    """Texts of a file, a named corpus or standard input."""
    from regard.data.readers import report_reading
    from regard.report.text.notes import print_note

    options = replace(read_options(arguments, trained, source), labelled=labelled, rationales=rationales, keep=keep)
    corpus = read_corpus(source, options, part)
    report_reading(corpus, print_note)
    check_lengths(trained, corpus.examples, corpus.path)
    return corpus


def read_corpus(source: str, options: ReadOptions, part: str) -> Corpus:
    from regard.corpora.lookup import resolve
    from regard.data.readers import read, read_lines

    if source == "-" and sys.stdin is None:
        raise InputError("standard input is closed; expected a file of texts, or a text")
    if source == "-":
        if sys.stdin.isatty():
            print("regard: reading texts from the keyboard, one per line; end with Ctrl-D", file=sys.stderr)
        return read_lines(sys.stdin.buffer, "standard input", options)
    return read(resolve(source, part), options)


def is_large(source: str) -> bool:
    """Whether it is a file that should not be held in memory."""
    return os.path.isfile(source) and os.path.getsize(source) >= LARGE


def check_lengths(trained: Model, examples: Sequence[Example], where: str) -> None:
    """If the model rejects long texts, report the first of them before predicting any, as in training."""
    from regard.data.examples import encode_examples
    from regard.data.wordpieces import WordPieces

    if isinstance(trained.tokenizer, WordPieces) and trained.tokenizer.longest is not None:
        encode_examples(trained.tokenizer, examples, where)


def read_text(text: str) -> Corpus:
    """A text given as an argument, checked like a row of a file."""
    from regard.data.examples import make_example
    from regard.data.formats import Row
    from regard.data.readers import Corpus

    row = Row(1, "argument", {"text": text})
    example = make_example(row, "command line", "text", None, labelled=False)
    return Corpus("command line", [example], "text", None, [], 0)

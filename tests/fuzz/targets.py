"""What is fuzzed. Each target is a module with `run(data)`, which fails by any exception, and has seeds in corpus/NAME.

To add one, write NAME_target.py, a row below, and a few small seeds.
"""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path

TARGETS = {
    "readers": "readers_target",
    "http": "http_target",
    "tokenizer": "tokenizer_target",
    "run_folder": "run_folder_target",
    "checkpoint": "checkpoint_target",
}
CORPUS = Path(__file__).parent / "corpus"
TOKENS = {
    "readers": (
        *(b'"', b'""', b"\t", b",", b"\n", b"\r", b"[", b"{", b"}", b"=1"),
        *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\0"),
    ),
    "http": (
        *(b"\r\n", b"\r\n\r\n", b"Content-Length: ", b"Transfer-Encoding: chunked", b"0" * 20, b"Expect: 100-continue"),
        *(b"Host: localhost:PORT", b"Connection: close", b'"method": "leave_one_out"', b'"without": [0]', b"[" * 99, b"null"),
    ),
    "run_folder": (*(b"[" * 99, b"null", b"1e30", b"-1", b"NaN", b'""', b"{}", b"\n", b"0", b"F16", b"[training]"),),
    "checkpoint": (*(b"[" * 99, b"null", b"1e30", b"-1", b"NaN", b'""', b"{}", b"0", b"F16"),),
    "tokenizer": (
        *(b"'", b"http://", b"@", b".", b"<br>", b":-)", b"\n\n", b"Mr. ", b"1,0"),
        *(b"\xed\xa0\x80", b"\xe2\x80\x8d", b"\xcc\x81"),
    ),
}  # fmt: skip


def run(name: str, data: bytes) -> None:
    import_module(TARGETS[name]).run(data)


def seeds(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


def mutated(name: str, rng: random.Random) -> bytes:
    """A seed with up to eight changes: bytes flipped, removed, repeated or replaced, tokens inserted, another seed appended."""
    known = seeds(name)
    data = bytearray(rng.choice(known))
    for _ in range(rng.randrange(9)):
        at, length = rng.randrange(len(data) + 1), rng.choice((1, 2, 4, 16, 64))
        match rng.randrange(7):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length] * rng.choice((1, 2, 200))
            case 3 if at < len(data):
                data[at] = rng.randrange(256)
            case 4 | 5:
                data[at:at] = rng.choice(TOKENS[name]) * rng.choice((1, 1, 2, 100))
            case 6:
                data += rng.choice(known)[at:]
    return bytes(data)

"""The token that clients send, from a file or the environment: never from the command line, which other users can see."""

from __future__ import annotations

import hmac
import os
from pathlib import Path

from regard.errors import InputError
from regard.serve.request_errors import RequestError

VARIABLE = "REGARD_TOKEN"
SHORTEST = 16  # characters; fewer could be guessed
MAKE_ONE = "`openssl rand -hex 24` makes one"


def read_token(file: str | None) -> str | None:
    """From the file, else from the environment variable; None if neither is given."""
    if file is None:
        value = os.environ.get(VARIABLE)
        return None if value is None else checked_token(value, VARIABLE)
    try:
        return checked_token(Path(file).read_text(encoding="utf-8"), f"--token-file {file}")
    except OSError as error:
        raise InputError(f"--token-file {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"--token-file {file}: expected a token of ASCII characters, got other bytes") from None


def checked_token(value: str, where: str) -> str:
    """The token without surrounding whitespace. Messages never quote it."""
    token = value.strip()
    if len(token) < SHORTEST:
        raise InputError(f"{where}: expected a token of at least {SHORTEST} characters, got {len(token)}; {MAKE_ONE}")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(f"{where}: expected a token of ASCII characters without spaces, got others; {MAKE_ONE}")
    return token


def check_authorization(received: list[str], token: str) -> None:
    """`received`: the values of the Authorization header. Tokens are compared in constant time."""
    scheme, _, sent = (received[0] if len(received) == 1 else "").partition(" ")
    if scheme.lower() == "bearer" and hmac.compare_digest(sent.strip().encode(), token.encode()):
        return
    got = "none" if not received else "another one" if scheme.lower() == "bearer" else "another kind of authorization"
    raise RequestError(
        401,
        f"Authorization: expected `Bearer TOKEN` with the token of this server, got {got}",
        {"WWW-Authenticate": "Bearer"},
    )

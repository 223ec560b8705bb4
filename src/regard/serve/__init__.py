"""The web application: a page to try models on texts, and a JSON API. `app` is the same as an ASGI application."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from regard.models.wrapped import WrappedModel

__all__ = ["app"]


def app(
    *runs: str | PathLike[str] | WrappedModel,
    token: str | None = None,
    hosts: Sequence[str] = (),
    method: str | None = None,
    target: str | None = None,
) -> Starlette:
    """The page and the JSON API as an ASGI application, to run under any ASGI server or to mount in another application.

    Models are loaded at once; Starlette is imported when this function is called.

    Parameters
    ----------
    *runs : path or wrapped model
        One run folder, or two to compare; instead of a folder also what `regard.wrap` returns.
    token : str, optional
        The token that clients must send. Without one, whoever can reach the application can use it.
    hosts : sequence of str
        The names by which clients reach the application, each with or without a port. Requests to other hosts are refused;
        this machine's own names are always accepted, with the port of the server.
    method, target : str, optional
        The explainer and the class that are selected when the page opens.
    """
    from regard.serve.mounting import make_app

    return make_app(runs, token, hosts, method, target)

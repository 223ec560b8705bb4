"""`regard.serve.app`: the ASGI application of models that are loaded now."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath

from starlette.applications import Starlette

from regard.errors import InputError
from regard.models.folder import load
from regard.models.model import Model
from regard.models.wrapped import WrappedModel
from regard.serve.application import Application
from regard.serve.asgi import asgi_app
from regard.serve.senders import Senders, checked_hosts
from regard.serve.serve import MAX_RUNS
from regard.serve.serving import Served, Start, load_runs
from regard.serve.tokens import checked_token


def make_app(
    runs: Sequence[str | PathLike[str] | WrappedModel],
    token: str | None,
    hosts: Sequence[str],
    method: str | None,
    target: str | None,
) -> Starlette:
    if not 1 <= len(runs) <= MAX_RUNS:
        raise InputError(f"app: expected one run, or two to compare, got {len(runs)}")
    models: dict[str, Model] = {run.name: run for run in runs if isinstance(run, WrappedModel)}
    folders = [run.name if isinstance(run, WrappedModel) else fspath(run) for run in runs]

    def find(folder: str) -> Model:
        return models[folder] if folder in models else load(folder)

    senders = Senders(checked_hosts(hosts))
    checked = None if token is None else checked_token(token, "token")
    start = Start(method, target)
    application = Application()
    served = load_runs(Served(folders, find, start, senders, checked))
    application.set_runs(served, *start)
    for run in served:
        run.warm_up()
    return asgi_app(application, senders, checked)

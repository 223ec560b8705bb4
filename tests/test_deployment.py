"""The Dockerfile and the service of docs/deploy.md: their commands are accepted and their files exist. No image is built."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

from regard.cli import make_parser
from regard.serve.application import HEALTH
from regard.serve.listening import PORT

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
GUIDE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} +(.+)$", DOCKERFILE, re.MULTILINE)


def test_the_container_starts_the_server_on_all_addresses_without_a_token_on_the_command_line() -> None:
    (entry,) = instructions("ENTRYPOINT")
    command, *words = json.loads(entry)
    assert command == "regard"
    arguments = make_parser().parse_args([*words, "/runs/reviews"])
    assert (arguments.host, arguments.port, arguments.folders) == ("0.0.0.0", PORT, ["/runs/reviews"])
    assert arguments.token_file is None
    assert not arguments.no_token
    assert instructions("EXPOSE") == [str(PORT)]
    assert not re.search(r"^(ENV|ARG).*TOKEN", DOCKERFILE, re.MULTILINE), "a token in an image is no secret"


def test_the_container_has_a_health_check_and_no_rights() -> None:
    (check,) = instructions("HEALTHCHECK")
    assert f"http://127.0.0.1:{PORT}{HEALTH}" in check
    compile(json.loads(check[check.index("[") :])[2], "health check", "exec")
    (user,) = instructions("USER")
    assert any(f"useradd --system --uid 10001 --create-home {user}" in line for line in instructions("RUN"))


def test_the_image_is_built_from_files_that_exist_and_are_sent() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for line in instructions("COPY"):
        if line.startswith("--from"):
            continue
        *sources, _ = line.split()
        for source in sources:
            assert (ROOT / source).exists(), source
            assert f"!{source}" in ignored, source


def test_everything_that_the_package_depends_on_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "requirements" / "base.txt").read_text().splitlines()}
    assert {re.split(r"[<>=~]", name)[0].lower() for name in project["dependencies"]} <= pinned
    assert {"anyio", "idna", "h11", "click"} <= pinned, "what the server's libraries depend on"


def test_the_service_starts_the_server() -> None:
    (unit,) = re.findall(r"```ini\n(.*?)```", GUIDE, re.DOTALL)
    (start,) = re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)
    _, *words = shlex.split(start)
    arguments = make_parser().parse_args(words)
    assert arguments.token_file == "${CREDENTIALS_DIRECTORY}/token"
    assert re.search(r"^LoadCredential=token:", unit, re.MULTILINE)


def test_the_guide_runs_the_container_as_it_is_built() -> None:
    (built,) = re.findall(r"docker build -t (\w+) \.", GUIDE)
    (run,) = re.findall(r"^\$ docker run (.+)$", GUIDE, re.MULTILINE)
    words = shlex.split(run)
    name = words.index(built)
    assert words[words.index("-p") + 1].endswith(f":{PORT}")
    mounted = words[words.index("-v") + 1].split(":")
    assert words[name + 1 :] == [mounted[1]]
    assert mounted[2] == "ro"

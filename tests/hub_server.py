"""A small Hugging Face hub on this machine: the parts of its HTTP interface that uploading and downloading use.

Repositories are kept in memory, as commits that never change. Answers, headers and error codes are those of the real hub, as
the library huggingface_hub reads them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_writer"
READER = "hf_reader"  # may read everything, and write nothing


@dataclass
class Repository:
    private: bool
    gated: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)

    def commit(self, files: dict[str, bytes], branch: str = "main") -> str:
        text = json.dumps([len(self.commits), branch, sorted(files)])
        name = hashlib.sha1(text.encode()).hexdigest()
        self.commits[name], self.branches[branch] = dict(files), name
        return name

    def resolve(self, revision: str) -> str | None:
        return revision if revision in self.commits else self.branches.get(revision)

    @property
    def files(self) -> dict[str, bytes]:
        return self.commits[self.branches["main"]]


@dataclass
class Hub:
    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)  # large files, by their hash
    requests: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)  # what it says about files, if that is not true
    failing: int | None = None  # answer everything with this status

    def add(self, name: str, files: dict[str, bytes], private: bool = False, gated: bool = False) -> Repository:
        self.repositories[name] = repository = Repository(private, gated)
        repository.commit(files)
        return repository


@contextmanager
def serving() -> Iterator[Hub]:
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def answer(self, status: int, content: Any = b"", **headers: str) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status: int, code: str = "", message: str = "refused") -> None:
        self.answer(status, {"error": message}, X_Error_Code=code, X_Error_Message=message)

    @property
    def token(self) -> str:
        return str(self.headers.get("Authorization", "")).removeprefix("Bearer ")

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def repository(self, name: str) -> Repository | None:
        """The repository, unless it does not exist or the client may not see it, which look the same."""
        found = self.hub.repositories.get(name)
        if found is None or (found.private and self.token not in (TOKEN, READER)):
            self.refuse(404 if self.token in (TOKEN, READER) else 401, "RepoNotFound", "Repository not found")
            return None
        if found.gated and not self.token:
            self.refuse(403, "GatedRepo", "Access to this repository is restricted")
            return None
        return found

    def handle_request(self) -> None:
        path = urlsplit(self.path).path
        self.hub.requests.append(f"{self.command} {path}")
        data = self.body()
        if self.hub.failing is not None:
            return self.refuse(self.hub.failing, "", "the hub is out of order")
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if self.command in ("GET", "HEAD"):
            return self.read(parts)
        if parts[0] == "objects":  # where large files are uploaded to, with an address that was given to the client
            self.hub.objects[parts[1]] = data
            return self.answer(200)
        if parts == ["api", "validate-yaml"]:
            return self.answer(200, {"errors": [], "warnings": []})
        if self.token != TOKEN:
            return self.refuse(403 if self.token else 401, "", "You don't have the rights")
        return self.write(parts, data)

    do_GET = do_HEAD = do_POST = do_PUT = handle_request

    def read(self, parts: list[str]) -> None:
        if parts[:2] == ["api", "models"]:
            revision = parts[5] if parts[4:5] == ["revision"] else "main"
            return self.info("/".join(parts[2:4]), revision)
        if parts[2:3] == ["resolve"]:
            return self.resolve("/".join(parts[:2]), parts[3], "/".join(parts[4:]))
        return self.refuse(404)

    def info(self, name: str, revision: str) -> None:
        repository = self.repository(name)
        if repository is None:
            return None
        commit = repository.resolve(revision)
        if commit is None:
            return self.refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        files = [
            {
                "rfilename": path,
                "size": self.hub.sizes.get(path, len(content)),
                "blobId": hashlib.sha1(content).hexdigest(),
            }
            for path, content in repository.commits[commit].items()
        ]
        answer = {"id": name, "modelId": name, "sha": commit, "private": repository.private, "siblings": files}
        return self.answer(200, {**answer, "tags": [], "downloads": 0, "likes": 0})

    def resolve(self, name: str, revision: str, path: str) -> None:
        repository = self.repository(name)
        if repository is None:
            return None
        commit = repository.resolve(revision)
        if commit is None:
            return self.refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        content = repository.commits[commit].get(path)
        if content is None:
            return self.refuse(404, "EntryNotFound", "Entry not found")
        etag = f'"{hashlib.sha256(content).hexdigest()}"'
        return self.answer(200, content, X_Repo_Commit=commit, ETag=etag)

    def write(self, parts: list[str], data: bytes) -> None:
        if parts == ["api", "repos", "create"]:
            wanted = json.loads(data)
            name = f"{wanted.get('organization') or 'me'}/{wanted['name']}"
            private = wanted.get("private") or wanted.get("visibility") == "private"
            self.hub.add(name, {".gitattributes": b""}, private=bool(private))
            return self.answer(200, {"url": f"{self.hub.url}/{name}", "name": name})
        if parts[2:] == ["info", "lfs", "objects", "batch"]:
            objects = [
                {**one, "actions": {"upload": {"href": f"{self.hub.url}/objects/{one['oid']}"}}}
                for one in json.loads(data)["objects"]
            ]
            return self.answer(200, {"transfer": "basic", "objects": objects})
        name, action, revision = "/".join(parts[2:4]), parts[4], parts[5]
        repository = self.repository(name)
        if repository is None:
            return None
        if action == "branch":
            repository.branches.setdefault(revision, repository.branches["main"])
            return self.answer(200, {})
        if action == "preupload":
            files = [
                {"path": one["path"], "uploadMode": mode(one["path"]), "shouldIgnore": False}
                for one in json.loads(data)["files"]
            ]
            return self.answer(200, {"files": files})
        assert action == "commit", parts
        return self.commit(repository, name, revision, [json.loads(line) for line in data.splitlines()])

    def commit(self, repository: Repository, name: str, branch: str, lines: list[dict[str, Any]]) -> None:
        if branch not in repository.branches:
            return self.refuse(404, "RevisionNotFound", f"Invalid rev id: {branch}")
        files = dict(repository.commits[repository.branches[branch]])
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.hub.objects[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        oid = repository.commit(files, branch)
        url = f"{self.hub.url}/{name}/commit/{oid}"
        return self.answer(
            200, {"success": True, "commitUrl": url, "commitOid": oid, "hookOutput": "", "pullRequestUrl": None}
        )


def mode(path: str) -> str:
    return "lfs" if path.endswith(".safetensors") else "regular"

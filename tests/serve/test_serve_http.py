"""HTTP: hosts, methods, content types and sizes; headers; no logs and no tracebacks; a port in use, Ctrl-C."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path

import pytest
from serving import JSON_HEADERS, Serving, serving

from command import Regard
from regard.models.folder import load
from regard.report import colours
from regard.serve import openapi, served_run
from regard.serve.application import ENDPOINTS, FILES, OPERATIONS
from regard.serve.request_errors import ClientGone, RequestError

SECRET = "xyzzysecretword"


@pytest.mark.parametrize("path", [*FILES, "/colours.css", "/api/runs", "/openapi.json"])
def test_every_page_has_its_headers(path: str, flat: Serving) -> None:
    answer = flat.get(path)
    assert answer.status == 200
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    rules = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in rules
    assert "script-src 'self';" in rules
    assert "unsafe" not in rules
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    head = flat.send("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Length"] == str(len(answer.body))
    assert flat.get(f"{path}?again=1").body == answer.body


@pytest.mark.parametrize("name", sorted({name for name, _ in FILES.values()}))
def test_pages_have_no_inline_code_no_foreign_address_and_no_markup_from_strings(name: str) -> None:
    source = (Path(served_run.__file__).parent / name).read_text(encoding="utf-8")
    assert not re.search(r"https?://(?!127)", source)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", source)
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=\"", source)


def test_every_file_of_the_page_is_served() -> None:
    folder = Path(served_run.__file__).parent
    names = {path.name for path in folder.iterdir() if path.suffix in (".html", ".css", ".js")}
    assert names == {name for name, _ in FILES.values()}


def test_words_are_shaded_in_the_colours_of_reports(flat: Serving) -> None:
    style = flat.get("/colours.css").body.decode()
    assert "--hot:{} {} {};".format(*colours.ACCENT) in style
    assert f"--most:{colours.MOST};" in style
    assert f"--ink:{colours.hexed(colours.DARK.ink)}" in style


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"])
def test_names_of_this_machine_are_accepted(host: str, flat: Serving) -> None:
    assert flat.get("/", Host=f"{host}:{flat.port}").status == 200
    origin = {"Origin": f"http://{host.lower()}:{flat.port}"}
    assert flat.send("POST", "/api/predict", b'{"text": "good"}', {**JSON_HEADERS, **origin}).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example:{port}", ""]
)
def test_a_foreign_name_for_this_machine_is_refused(host: str, flat: Serving) -> None:
    for path in ("/", "/api/runs", "/nothing"):
        answer = flat.get(path, Host=host.format(port=flat.port))
        assert answer.status == 403
        assert answer.error == f"only requests to http://127.0.0.1:{flat.port}/ are answered"


def test_a_request_without_a_host_is_refused(flat: Serving) -> None:
    assert b"403" in raw(flat, b"GET / HTTP/1.0\r\n\r\n").split(b"\r\n")[0]
    twice = f"GET / HTTP/1.1\r\nHost: localhost:{flat.port}\r\nHost: evil.example\r\n\r\n"
    assert b"403" in raw(flat, twice.encode()).split(b"\r\n")[0]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://localhost:{port}", "http://localhost:1"])
def test_a_page_of_another_origin_is_refused(origin: str, flat: Serving) -> None:
    headers = {**JSON_HEADERS, "Origin": origin.format(port=flat.port)}
    answer = flat.send("POST", "/api/predict", b'{"text": "good"}', headers)
    assert (answer.status, answer.error) == (403, "requests from pages of other origins are refused")


def test_a_second_origin_is_refused(flat: Serving) -> None:
    same_origin = f"Origin: http://127.0.0.1:{flat.port}\r\n"
    head = f"GET /api/runs HTTP/1.1\r\nHost: localhost:{flat.port}\r\n{same_origin}Origin: http://elsewhere.example\r\n\r\n"
    assert raw(flat, head.encode()).startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_requests_must_have_the_json_content_type(kind: str | None, flat: Serving) -> None:
    headers: Mapping[str, str] = {} if kind is None else {"Content-Type": kind}
    answer = flat.send("POST", "/api/predict", b'{"text": "good"}', headers)
    assert answer.status == 415
    assert answer.error == f"Content-Type: expected application/json, got {kind or ''!r}"
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert flat.send("POST", "/api/predict", b'{"text": "good"}', headers).status == 200


@pytest.mark.parametrize("verb", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_the_api_needs_post(verb: str, flat: Serving) -> None:
    answer = flat.send(verb, "/api/predict")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    if verb != "HEAD":
        assert answer.error == f"HTTP method: expected POST, got {verb}"


def test_pages_need_get(flat: Serving) -> None:
    answer = flat.send("POST", "/", b"{}", JSON_HEADERS)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", ["/nothing", "/../cli.py", "/page.py", "/api", "/api/predict/", "/%2e%2e/cli.py"])
def test_unknown_paths_are_not_found(path: str, flat: Serving) -> None:
    answer = flat.get(path)
    assert answer.status == 404
    assert answer.error.startswith("path: expected / or one of /api/predict, ")


def test_unknown_methods_and_invalid_http_get_a_json_error(flat: Serving) -> None:
    host = f"Host: localhost:{flat.port}\r\n\r\n".encode()
    for sent, status in (
        (b"BREW / HTTP/1.1\r\n" + host, b"501"),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", b"400"),
        (b"GET / HTTP/9.9\r\n" + host, b"505"),
    ):
        head, _, body = raw(flat, sent).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 " + status)
        assert list(json.loads(body)) == ["error"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "body: expected a JSON object, got invalid JSON (Expecting value: line 1, column 1)"),
        (b"{", "body: expected a JSON object, got invalid JSON (Expecting property name enclosed in double quotes: line 1, column 2)"),  # noqa: E501
        (b"\xff\xfe", "body: expected a JSON object in UTF-8, got bytes that are not UTF-8"),
        (b"[1]", "body: expected a JSON object, got a list ([1])"),
        (b"null", "body: expected a JSON object, got null"),
        (b"[" * 100_000, "body: expected a JSON object, got JSON that is nested too deeply"),
        (b'{"text": ' + b"9" * 10_000 + b"}", "body: expected a JSON object, got a number with too many digits"),
        (b'{"text": NaN}', "text: expected a string, got a number (NaN)"),
    ],
)  # fmt: skip
def test_an_invalid_body_is_refused_in_one_sentence(body: bytes, sentence: str, flat: Serving) -> None:
    for path in ENDPOINTS:
        answer = flat.send("POST", path, body, JSON_HEADERS)
        assert answer.status == 400
        if path == "/api/predict" or b"text" not in body:
            assert answer.error == sentence


def test_bodies_above_the_limit_are_refused(flat: Serving) -> None:
    for path, field, limit in (("/api/explain", "text", 1_000_000), ("/api/table", "table", 5_000_000)):
        fill = limit - len(json.dumps({field: "text\ngood"}))
        whole = json.dumps({field: "text\ngood" + " " * fill}).encode()
        assert len(whole) == limit
        assert flat.send("POST", path, whole, JSON_HEADERS).status == 200
        for more in (1, 3_000_000):
            answer = flat.send("POST", path, whole + b" " * more, JSON_HEADERS)
            assert answer.status == 413
            assert answer.error == f"body: expected at most {limit:,} bytes, got {limit + more:,}"
            assert answer.headers["Connection"] == "close"


def test_a_missing_or_invalid_content_length_is_refused(flat: Serving) -> None:
    start = f"POST /api/predict HTTP/1.1\r\nHost: localhost:{flat.port}\r\nContent-Type: application/json\r\n"
    for line, status, message in (
        ("", 411, "Content-Length: expected the length of the body, got none"),
        ("Transfer-Encoding: chunked\r\n", 411, "Content-Length: expected the length of the body, got none"),
        ("Content-Length: -5\r\n", 400, "Content-Length: expected a number, got '-5'"),
        ("Content-Length: x\r\n", 400, "Content-Length: expected a number, got 'x'"),
        ("Content-Length: 5\r\nContent-Length: 6\r\n", 400, "expected one value, got several"),
        (f"Content-Length: {'9' * 30}\r\n", 413, "body: expected at most 1,000,000 bytes"),
    ):
        head, _, body = raw(flat, f"{start}{line}\r\n".encode()).partition(b"\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {status} ".encode()), line
        assert list(json.loads(body)) == ["error"]
        assert message in json.loads(body)["error"]


def test_expect_100_continue_is_answered(flat: Serving) -> None:
    body = b'{"text": "good"}'
    head = f"POST /api/predict HTTP/1.1\r\nHost: localhost:{flat.port}\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", flat.port), timeout=10) as line:
        line.sendall(head.encode())
        assert line.recv(100).startswith(b"HTTP/1.1 100")
        line.sendall(body)
        assert b"200 OK" in line.recv(1000)


def test_a_connection_can_send_several_requests(flat: Serving) -> None:
    connection = HTTPConnection("127.0.0.1", flat.port, timeout=10)
    for _ in range(3):
        connection.request("POST", "/api/predict", b'{"text": "good"}', JSON_HEADERS)
        assert connection.getresponse().read().startswith(b'{"run"')
    connection.close()


def test_an_unexpected_body_is_not_parsed_as_the_next_request(flat: Serving) -> None:
    connection = HTTPConnection("127.0.0.1", flat.port, timeout=10)
    for _ in range(2):
        connection.request("GET", "/api/runs", b"hello", JSON_HEADERS)
        assert connection.getresponse().read().startswith(b'{"version"')
    connection.close()


def raw(flat: Serving, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", flat.port), timeout=10) as line:
        line.sendall(sent)
        received = b""
        while piece := line.recv(1 << 16):
            received += piece
    return received


def test_no_text_is_logged_whatever_happens(
    flat: Serving, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flat.ask("/api/explain", text=SECRET)
    flat.ask("/api/explain", text=SECRET, method=SECRET)
    flat.get(f"/{SECRET}?{SECRET}")

    def broken(*arguments: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setitem(ENDPOINTS, "/api/predict", ENDPOINTS["/api/predict"]._replace(answer=broken))
    answer = flat.ask("/api/predict", text=SECRET)
    assert (answer.status, answer.error) == (500, "internal error of the server")
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("regard: KeyError at test_serve_http.py:")
    assert err.count("\n") == 1
    assert SECRET not in err


def test_too_little_memory_is_reported(flat: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setitem(ENDPOINTS, "/api/predict", ENDPOINTS["/api/predict"]._replace(answer=broken))
    answer = flat.ask("/api/predict", text="good")
    assert (answer.status, answer.error) == (503, "not enough memory for this text")


def test_a_request_waits_for_the_model_but_not_for_ever(two: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    run = two.server.application.runs[0]
    monkeypatch.setattr(served_run, "MAX_WAIT", 0.3)
    with run.exclusive(lambda: False):
        answer = two.ask("/api/predict", text="good")
        assert (answer.status, answer.error) == (503, "han: the model is busy with other requests; try again later")
        with pytest.raises(RequestError), run.exclusive(lambda: False):
            pass
        with pytest.raises(ClientGone), run.exclusive(lambda: True):
            pass
    assert two.ask("/api/predict", text="good").status == 200


def test_a_request_of_a_disconnected_client_is_dropped(two: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    run, predicted = two.server.application.runs[0], []
    real = run.trained.answers
    monkeypatch.setattr(run.trained, "answers", lambda texts: (predicted.extend(texts), real(texts))[1])
    body = b'{"text": "dropped"}'
    head = f"POST /api/predict HTTP/1.1\r\nHost: localhost:{two.port}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with run.exclusive(lambda: False):
        with socket.create_connection(("127.0.0.1", two.port)) as line:
            line.sendall(head.encode() + body)
            time.sleep(0.2)
        time.sleep(0.6)
    assert two.ask("/api/predict", text="kept").status == 200
    assert predicted == ["kept"]


def test_the_description_matches_the_endpoints(two: Serving) -> None:
    api = two.get("/openapi.json").value
    assert api["openapi"] == "3.1.0"
    assert set(api["paths"]) == {*ENDPOINTS, "/api/runs", "/health"}
    for path, endpoint in ENDPOINTS.items():
        request = api["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        assert set(request["schema"]["properties"]) == set(endpoint.fields)
        assert f"{endpoint.max_bytes:,} bytes" in api["paths"][path]["post"]["description"]
        answer = two.ask(path, **request["example"])
        assert answer.status == 200
        documented = api["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]["schema"][
            "properties"
        ]
        assert set(answer.value) == set(documented)
        if "results" in documented:
            (result, *_) = answer.value["results"]
            assert set(result) <= set(documented["results"]["items"]["properties"])


def test_the_description_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made from types; nothing in it refers to another part."""
    expected = json.loads((Path(__file__).parent / "openapi_expected.json").read_text(encoding="utf-8"))
    explained = expected["paths"]["/api/explain"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    monkeypatch.setattr(openapi, "__version__", expected["info"]["version"])
    described = openapi.openapi(OPERATIONS, ["first", "second"], explained["properties"]["method"]["enum"])
    assert json.dumps(described) == json.dumps(expected)
    assert "$ref" not in json.dumps(described)


# the command


def test_a_port_in_use_is_reported(regard: Regard, flat: Serving, flat_run: Path) -> None:
    result = regard("serve", flat_run, "--port", flat.port)
    assert result.code == 2
    assert result.error == (f"--port {flat.port}: Address already in use; choose another port, or 0 for any free one")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["{run}", "--port", "70000"], "--port: expected 0 to 65535 (0: any free port), got 70000"),
        (["{run}", "--port", "-1"], "--port: expected 0 to 65535 (0: any free port), got -1"),
        (["nowhere", "--port", "0"], "nowhere: there is no such folder; a run is a folder that `regard train` wrote"),
        (["{run}", "{run}", "--port", "0"], "{run}: expected two different runs, got the same one twice"),
        (["a", "b", "c"], "expected one run, or two to compare, got 3"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(
    arguments: list[str], sentence: str, regard: Regard, flat_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = regard("serve", *(word.format(run=flat_run) for word in arguments))
    assert (result.code, result.error) == (2, sentence.format(run=flat_run))
    assert result.out == "", "nothing was opened"


def test_runs_of_the_same_name_are_named_by_their_paths(tmp_path: Path) -> None:
    assert served_run.run_names(["a/run", "b/run"]) == [str(Path("a/run")), str(Path("b/run"))]
    assert served_run.run_names(["a/one", "b/two/"]) == ["one", "two"]


SCRIPT = """
import sys
from regard.cli import main
code = main(sys.argv[1:])
print(code, "torch" in sys.modules, file=sys.stderr)
"""


def test_it_starts_without_torch_and_stops_at_ctrl_c(flat_run: Path) -> None:
    begin = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT, "serve", str(flat_run), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        took = time.monotonic() - begin
        print(f"started in {took:.2f} s")  # printed, not asserted: the machine may be busy
        pattern = r"(http://127\.0\.0\.1:(\d+)/) is open; loading flat \(Ctrl-C to stop\)\n"
        match = re.fullmatch(pattern, line)
        assert match, line
        assert process.stdout.readline() == "flat ready\n"
        connection = HTTPConnection("127.0.0.1", int(match[2]), timeout=30)
        connection.request("POST", "/api/explain", b'{"text": "a good room"}', JSON_HEADERS)
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (out, err) == ("stopped\n", "0 False\n")


def test_requests_in_progress_are_answered_before_it_stops_at_sigterm(run: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "regard.cli", "serve", str(run), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    try:
        port = int(re.findall(r":(\d+)/", process.stdout.readline())[0])
        assert process.stdout.readline() == "run ready\n"
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        # several texts: the model is idle for a moment after each, before the answer is sent
        texts = {"texts": ["a good room. " * 10] * 60, "method": "integrated_gradients"}
        connection.request("POST", "/api/explain", json.dumps(texts).encode(), JSON_HEADERS)
        time.sleep(0.5)
        process.terminate()
        reply = connection.getresponse()
        assert (reply.status, len(json.loads(reply.read())["results"])) == (200, 60)
        connection.close()
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (out, err, process.returncode) == ("stopped\n", "", 0)


def test_the_page_is_available_while_the_model_loads_and_requests_are_told_to_retry(flat_run: Path) -> None:
    with serving() as server:
        assert [server.get(path).status for path in ("/", "/page.js", "/colours.css", "/nothing")] == [
            200,
            200,
            200,
            404,
        ]
        for answer in (
            server.get("/api/runs"),
            server.get("/openapi.json"),
            *(server.ask(path, text="good") for path in ENDPOINTS),
        ):
            assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
            assert answer.error == "the model is still loading; try again in a second"
        server.server.application.set_runs([served_run.ServedRun("flat", load(flat_run))])
        assert server.ask("/api/predict", text="good").status == 200
        assert server.get("/api/runs").value["runs"][0]["name"] == "flat"


def test_a_damaged_run_stops_the_server(regard: Regard, flat_run: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(flat_run, damaged)
    (damaged / "task.json").write_text("{")
    (damaged / "manifest.json").unlink()
    threads = set(threading.enumerate())  # those of other tests may end meanwhile
    result = regard("serve", damaged, "--port", "0")
    assert result.code == 2
    assert result.error.startswith(f"{damaged}: damaged run (task.json is not JSON: ")
    assert set(threading.enumerate()) <= threads


def test_the_browser_is_opened_only_on_request(flat_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import webbrowser

    from regard.serve import serving as serving_module
    from regard.serve.serve import Address, serve

    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(serving_module.Server, "is_running", lambda server: False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    serve([str(flat_run)], load, Address(port=0))
    assert opened == []
    serve([str(flat_run)], load, Address(port=0), show=True)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", opened[0])

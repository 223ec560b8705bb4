"""What is let in: hosts, verbs, kinds and sizes; headers; nothing logged and no traceback; a port in use, Ctrl-C."""

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
from serving import KIND, Serving, serving

from command import Regard
from regard.models.folder import load
from regard.report import colours
from regard.serve import application
from regard.serve import served as turns
from regard.serve.application import FILES, QUESTIONS
from regard.serve.refused import Gone, Refused

SECRET = "xyzzysecretword"


@pytest.mark.parametrize("path", [*FILES, "/colours.css", "/api/runs", "/openapi.json"])
def test_every_page_is_there_with_its_headers(path: str, flat: Serving) -> None:
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
def test_pages_hold_no_inline_code_no_foreign_address_and_no_markup_from_strings(name: str) -> None:
    source = (Path(turns.__file__).parent / name).read_text(encoding="utf-8")
    assert not re.search(r"https?://(?!127)", source)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", source)
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=\"", source)


def test_every_file_of_the_page_is_served() -> None:
    folder = Path(turns.__file__).parent
    found = {path.name for path in folder.iterdir() if path.suffix in (".html", ".css", ".js")}
    assert found == {name for name, _ in FILES.values()}


def test_words_are_shaded_in_the_colour_of_every_report(flat: Serving) -> None:
    style = flat.get("/colours.css").body.decode()
    assert "--hot:{} {} {};".format(*colours.ACCENT) in style
    assert f"--most:{colours.MOST};" in style
    assert f"--ink:{colours.hexed(colours.DARK.ink)}" in style


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"])
def test_this_machine_is_answered(host: str, flat: Serving) -> None:
    assert flat.get("/", Host=f"{host}:{flat.port}").status == 200
    origin = {"Origin": f"http://{host.lower()}:{flat.port}"}
    assert flat.send("POST", "/api/predict", b'{"text": "good"}', {**KIND, **origin}).status == 200


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
def test_a_page_of_somebody_else_is_refused(origin: str, flat: Serving) -> None:
    headers = {**KIND, "Origin": origin.format(port=flat.port)}
    answer = flat.send("POST", "/api/predict", b'{"text": "good"}', headers)
    assert (answer.status, answer.error) == (403, "only pages of this server are answered")


def test_one_good_origin_does_not_let_another_in(flat: Serving) -> None:
    own = f"Origin: http://127.0.0.1:{flat.port}\r\n"
    head = f"GET /api/runs HTTP/1.1\r\nHost: localhost:{flat.port}\r\n{own}Origin: http://elsewhere.example\r\n\r\n"
    assert raw(flat, head.encode()).startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_question_must_be_said_to_be_json(kind: str | None, flat: Serving) -> None:
    headers: Mapping[str, str] = {} if kind is None else {"Content-Type": kind}
    answer = flat.send("POST", "/api/predict", b'{"text": "good"}', headers)
    assert answer.status == 415
    assert answer.error == f"Content-Type is {kind or ''!r}; application/json is accepted"
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert flat.send("POST", "/api/predict", b'{"text": "good"}', headers).status == 200


@pytest.mark.parametrize("verb", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_a_question_is_asked_by_post(verb: str, flat: Serving) -> None:
    answer = flat.send(verb, "/api/predict")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    if verb != "HEAD":
        assert answer.error == f"{verb} is given; POST is accepted here"


def test_a_page_is_asked_for_by_get(flat: Serving) -> None:
    answer = flat.send("POST", "/", b"{}", KIND)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", ["/nothing", "/../cli.py", "/page.py", "/api", "/api/predict/", "/%2e%2e/cli.py"])
def test_what_is_not_there_is_said_not_to_be(path: str, flat: Serving) -> None:
    answer = flat.get(path)
    assert answer.status == 404
    assert answer.error.startswith("there is nothing at ")


def test_a_verb_that_nobody_knows_and_no_http_at_all_get_a_sentence(flat: Serving) -> None:
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
        (b"", "the body is not JSON (Expecting value: line 1, column 1); an object is accepted"),
        (b"{", "the body is not JSON (Expecting property name enclosed in double quotes: line 1, column 2); an object is accepted"),  # noqa: E501
        (b"\xff\xfe", "the body is not JSON in UTF-8; an object is accepted"),
        (b"[1]", "the body is a list ([1]); an object is accepted"),
        (b"null", "the body is null; an object is accepted"),
        (b"[" * 100_000, "the body is not JSON that can be read (too deep); an object is accepted"),
        (b'{"text": ' + b"9" * 10_000 + b"}", "the body is not JSON that can be read (a number is too long); an object is accepted"),  # noqa: E501
        (b'{"text": NaN}', "text: a number (NaN) is given; a string is accepted"),
    ],
)  # fmt: skip
def test_a_body_that_is_no_question_is_refused_in_a_sentence(body: bytes, sentence: str, flat: Serving) -> None:
    for path in QUESTIONS:
        answer = flat.send("POST", path, body, KIND)
        assert answer.status == 400
        if path == "/api/predict" or b"text" not in body:
            assert answer.error == sentence


def test_bodies_up_to_the_limit_are_read_and_larger_ones_refused(flat: Serving) -> None:
    for path, field, most in (("/api/explain", "text", 1_000_000), ("/api/table", "table", 5_000_000)):
        fill = most - len(json.dumps({field: "text\ngood"}))
        whole = json.dumps({field: "text\ngood" + " " * fill}).encode()
        assert len(whole) == most
        assert flat.send("POST", path, whole, KIND).status == 200
        for more in (1, 3_000_000):
            answer = flat.send("POST", path, whole + b" " * more, KIND)
            assert answer.status == 413
            assert answer.error == f"the body has {most + more:,} bytes; up to {most:,} are accepted"
            assert answer.headers["Connection"] == "close"


def test_a_length_that_is_missing_or_nonsense_is_refused(flat: Serving) -> None:
    start = f"POST /api/predict HTTP/1.1\r\nHost: localhost:{flat.port}\r\nContent-Type: application/json\r\n"
    for line, status, told in (
        ("", 411, "is not said"),
        ("Transfer-Encoding: chunked\r\n", 411, "is not said"),
        ("Content-Length: -5\r\n", 400, "not a number"),
        ("Content-Length: x\r\n", 400, "not a number"),
        ("Content-Length: 5\r\nContent-Length: 6\r\n", 400, "given twice"),
        (f"Content-Length: {'9' * 30}\r\n", 413, "bytes"),
    ):
        head, _, body = raw(flat, f"{start}{line}\r\n".encode()).partition(b"\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {status} ".encode()), line
        assert list(json.loads(body)) == ["error"]
        assert told in json.loads(body)["error"]


def test_whoever_waits_to_be_told_to_go_on_is_told(flat: Serving) -> None:
    body = b'{"text": "good"}'
    head = f"POST /api/predict HTTP/1.1\r\nHost: localhost:{flat.port}\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", flat.port), timeout=10) as line:
        line.sendall(head.encode())
        assert line.recv(100).startswith(b"HTTP/1.1 100")
        line.sendall(body)
        assert b"200 OK" in line.recv(1000)


def test_one_connection_takes_one_question_after_the_other(flat: Serving) -> None:
    connection = HTTPConnection("127.0.0.1", flat.port, timeout=10)
    for _ in range(3):
        connection.request("POST", "/api/predict", b'{"text": "good"}', KIND)
        assert connection.getresponse().read().startswith(b'{"run"')
    connection.close()


def test_a_body_that_nobody_asked_for_is_not_the_next_question(flat: Serving) -> None:
    connection = HTTPConnection("127.0.0.1", flat.port, timeout=10)
    for _ in range(2):
        connection.request("GET", "/api/runs", b"hello", KIND)
        assert connection.getresponse().read().startswith(b'{"version"')
    connection.close()


def raw(flat: Serving, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", flat.port), timeout=10) as line:
        line.sendall(sent)
        found = b""
        while piece := line.recv(1 << 16):
            found += piece
    return found


def test_no_text_is_logged_whatever_happens(
    flat: Serving, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flat.ask("/api/explain", text=SECRET)
    flat.ask("/api/explain", text=SECRET, method=SECRET)
    flat.get(f"/{SECRET}?{SECRET}")

    def broken(*given: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setitem(QUESTIONS, "/api/predict", QUESTIONS["/api/predict"]._replace(answer=broken))
    answer = flat.ask("/api/predict", text=SECRET)
    assert (answer.status, answer.error) == (500, "something went wrong here, not with you")
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("regard: KeyError at test_serve_http.py:")
    assert err.count("\n") == 1
    assert SECRET not in err


def test_too_little_memory_is_said(flat: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object) -> None:
        raise MemoryError

    monkeypatch.setitem(QUESTIONS, "/api/predict", QUESTIONS["/api/predict"]._replace(answer=broken))
    answer = flat.ask("/api/predict", text="good")
    assert (answer.status, answer.error) == (503, "this text takes more memory than there is")


def test_a_request_waits_for_its_turn_but_not_for_ever(two: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    run = two.server.application.served[0]
    monkeypatch.setattr(turns, "WAIT", 0.3)
    with run.turn(lambda: False):
        answer = two.ask("/api/predict", text="good")
        assert (answer.status, answer.error) == (503, "han: the model is busy with other requests; try again later")
        with pytest.raises(Refused), run.turn(lambda: False):
            pass
        with pytest.raises(Gone), run.turn(lambda: True):
            pass
    assert two.ask("/api/predict", text="good").status == 200


def test_a_question_that_nobody_waits_for_is_dropped(two: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    run, asked = two.server.application.served[0], []
    real = run.trained.answers
    monkeypatch.setattr(run.trained, "answers", lambda texts: (asked.extend(texts), real(texts))[1])
    body = b'{"text": "dropped"}'
    head = f"POST /api/predict HTTP/1.1\r\nHost: localhost:{two.port}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with run.turn(lambda: False):
        with socket.create_connection(("127.0.0.1", two.port)) as line:
            line.sendall(head.encode() + body)
            time.sleep(0.2)
        time.sleep(0.6)
    assert two.ask("/api/predict", text="kept").status == 200
    assert asked == ["kept"]


def test_the_description_names_what_is_accepted(two: Serving) -> None:
    found = two.get("/openapi.json").value
    assert found["openapi"] == "3.1.0"
    assert set(found["paths"]) == {*QUESTIONS, "/api/runs"}
    for path, question in QUESTIONS.items():
        asked = found["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        assert set(asked["schema"]["properties"]) == set(question.fields)
        assert f"{question.most:,} bytes" in found["paths"][path]["post"]["description"]
        answer = two.ask(path, **asked["example"])
        assert answer.status == 200
        told = found["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]["schema"]["properties"]
        assert set(answer.value) == set(told)
        if "results" in told:
            (result, *_) = answer.value["results"]
            assert set(result) <= set(told["results"]["items"]["properties"])


def test_the_description_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that it is made from is full of references; what is served has none."""
    expected = json.loads((Path(__file__).parent / "openapi_expected.json").read_text(encoding="utf-8"))
    explained = expected["paths"]["/api/explain"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    monkeypatch.setattr(application, "__version__", expected["info"]["version"])
    monkeypatch.setattr(application, "EXPLAINERS", dict.fromkeys(explained["properties"]["method"]["enum"]))
    assert json.dumps(application.openapi(["first", "second"])) == json.dumps(expected)


# the command


def test_a_port_in_use_is_said_in_a_sentence(regard: Regard, flat: Serving, flat_run: Path) -> None:
    said = regard("serve", flat_run, "--port", flat.port)
    assert said.code == 2
    assert said.complaint == (
        f"--port {flat.port}: Address already in use; another one, or 0 for any free one, is accepted"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["{run}", "--port", "70000"], "--port 70000: 0 to 65535 is accepted, 0 for any free one"),
        (["{run}", "--port", "-1"], "--port -1: 0 to 65535 is accepted, 0 for any free one"),
        (["nowhere", "--port", "0"], "nowhere: there is no such folder; a run is a folder that `regard train` wrote"),
        (["{run}", "{run}", "--port", "0"], "{run} is given twice; two different runs are compared"),
        (["a", "b", "c"], "3 runs are given; one, or two side by side, is accepted"),
    ],
)
def test_bad_arguments_get_a_sentence(
    arguments: list[str], sentence: str, regard: Regard, flat_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = regard("serve", *(word.format(run=flat_run) for word in arguments))
    assert (said.code, said.complaint) == (2, sentence.format(run=flat_run))
    assert said.out == "", "nothing was opened"


def test_runs_of_the_same_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    assert turns.run_names(["a/run", "b/run"]) == [str(Path("a/run")), str(Path("b/run"))]
    assert turns.run_names(["a/one", "b/two/"]) == ["one", "two"]


SCRIPT = """
import sys
from regard.cli import main
code = main(sys.argv[1:])
print(code, "torch" in sys.modules, file=sys.stderr)
"""


def test_it_starts_answers_without_torch_and_ends_by_ctrl_c(flat_run: Path) -> None:
    begun = time.monotonic()
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
        took = time.monotonic() - begun
        print(f"started in {took:.2f} s")  # told, not asserted: the machine may be busy
        pattern = r"(http://127\.0\.0\.1:(\d+)/) is open, flat being loaded  \(Ctrl-C ends\)\n"
        found = re.fullmatch(pattern, line)
        assert found, line
        assert process.stdout.readline() == "flat ready\n"
        connection = HTTPConnection("127.0.0.1", int(found[2]), timeout=30)
        connection.request("POST", "/api/explain", b'{"text": "a good room"}', KIND)
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (out, err) == ("stopped\n", "0 False\n")


def test_whoever_is_being_answered_gets_the_answer_before_it_ends_by_sigterm(run: Path) -> None:
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
        # several texts: the model is free for a moment after each, and the answer is not yet sent
        texts = {"texts": ["a good room. " * 10] * 60, "method": "integrated_gradients"}
        connection.request("POST", "/api/explain", json.dumps(texts).encode(), KIND)
        time.sleep(0.5)
        process.terminate()
        reply = connection.getresponse()
        assert (reply.status, len(json.loads(reply.read())["results"])) == (200, 60)
        connection.close()
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (out, err, process.returncode) == ("stopped\n", "", 0)


def test_the_page_is_there_while_the_model_loads_and_questions_are_told_to_come_again(flat_run: Path) -> None:
    with serving() as found:
        assert [found.get(path).status for path in ("/", "/page.js", "/colours.css", "/nothing")] == [
            200,
            200,
            200,
            404,
        ]
        for answer in (
            found.get("/api/runs"),
            found.get("/openapi.json"),
            *(found.ask(path, text="good") for path in QUESTIONS),
        ):
            assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
            assert answer.error == "the model is still loading; try again in a second"
        found.server.application.take([turns.Served("flat", load(flat_run))])
        assert found.ask("/api/predict", text="good").status == 200
        assert found.get("/api/runs").value["runs"][0]["name"] == "flat"


def test_a_run_that_cannot_be_loaded_ends_the_server(regard: Regard, flat_run: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(flat_run, damaged)
    (damaged / "task.json").write_text("{")
    threads = threading.active_count()
    said = regard("serve", damaged, "--port", "0")
    assert said.code == 2
    assert said.complaint.startswith(f"{damaged}: damaged run (task.json is not JSON: ")
    assert threading.active_count() == threads


def test_the_browser_is_opened_only_where_it_is_asked_for(flat_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import webbrowser

    from regard.serve.serve import serve
    from regard.serve.server import Server

    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    for name in ("serve_forever", "shutdown"):
        monkeypatch.setattr(Server, name, lambda server: None)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    serve([str(flat_run)], load, 0)
    assert opened == []
    serve([str(flat_run)], load, 0, show=True)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", opened[0])

"""Who may use the server: addresses to listen on, names in the Host header, and tokens."""

from __future__ import annotations

import io
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

import pytest
from driving import visit, write
from serving import JSON_HEADERS, Serving, serving_runs

from browser import NAMES, Browser, chromium
from command import Regard
from regard.errors import InputError
from regard.models.folder import load
from regard.serve.application import ENDPOINTS, FILES
from regard.serve.listening import is_any_address, is_local, listen, page_address
from regard.serve.request_errors import RequestError
from regard.serve.senders import Senders, checked_hosts
from regard.serve.serve import Address, check_token, senders
from regard.serve.served_run import ServedRun
from regard.serve.server import Server
from regard.serve.tokens import check_authorization, checked_token, read_token

TOKEN = "correct-horse-battery-staple"
BODY = b'{"text": "good"}'


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


# tokens


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer another-token-of-some-length"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": "Bearer "},
        {"Cookie": f"token={TOKEN}"},
    ],
)
def test_the_api_needs_the_token(headers: dict[str, str], flat_run: Path) -> None:
    with serving_runs(ServedRun("flat", load(flat_run)), token=TOKEN) as served:
        for answer in (
            served.get("/api/runs", **headers),
            served.get("/openapi.json", **headers),
            *(served.send("POST", path, BODY, {**JSON_HEADERS, **headers}) for path in ENDPOINTS),
        ):
            assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
            assert answer.error.startswith("Authorization: expected `Bearer TOKEN` with the token of this server, got ")
            assert TOKEN not in answer.error


def test_requests_with_the_token_are_answered(flat_run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving_runs(ServedRun("flat", load(flat_run)), token=TOKEN) as served:
        for scheme in ("Bearer", "bearer"):
            headers = {"Authorization": f"{scheme} {TOKEN}"}
            assert served.get("/api/runs", **headers).status == 200
            assert served.send("POST", "/api/predict", BODY, {**JSON_HEADERS, **headers}).status == 200
        assert served.get("/api/runs", Authorization=f"Bearer {TOKEN}", Origin="http://evil.example").status == 403
        assert served.get(f"/api/runs?token={TOKEN}").status == 401, "never in an address, which is logged and shared"
    assert capfd.readouterr() == ("", "")


def test_the_page_and_the_health_check_need_no_token(flat_run: Path) -> None:
    with serving_runs(ServedRun("flat", load(flat_run)), token=TOKEN) as served:
        for path in (*FILES, "/colours.css", "/health"):
            assert served.get(path).status == 200
        assert served.get("/health").value == {"status": "ready"}


def test_the_health_check_fails_until_the_models_are_loaded() -> None:
    with serving_runs() as served:
        answer = served.get("/health")
        assert (answer.status, answer.headers["Retry-After"]) == (503, "1")


def test_two_authorization_headers_are_refused() -> None:
    with pytest.raises(RequestError):
        check_authorization([f"Bearer {TOKEN}", f"Bearer {TOKEN}"], TOKEN)
    check_authorization([f"Bearer {TOKEN}"], TOKEN)


def test_a_token_is_read_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REGARD_TOKEN", raising=False)
    assert read_token(None) is None
    monkeypatch.setenv("REGARD_TOKEN", TOKEN)
    assert read_token(None) == TOKEN
    (tmp_path / "token").write_text(f"{TOKEN}-in-a-file\n")
    assert read_token(str(tmp_path / "token")) == f"{TOKEN}-in-a-file"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "expected a token of at least 16 characters, got 0"),
        (b"short\n", "expected a token of at least 16 characters, got 5"),
        (b"two words of a token", "expected a token of ASCII characters without spaces, got others"),
        ("schlüssel-schlüssel".encode(), "expected a token of ASCII characters without spaces, got others"),
        (b"\xff" * 20, "expected a token of ASCII characters, got other bytes"),
    ],
)
def test_a_weak_token_is_refused(content: bytes, problem: str, regard: Regard, flat_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    result = regard("serve", flat_run, "--port", "0", "--token-file", file)
    assert (result.code, result.out) == (2, "")
    assert result.error.startswith(f"--token-file {file}: {problem}")


def test_messages_never_quote_a_token() -> None:
    with pytest.raises(InputError) as raised:
        checked_token("a secret with spaces", "token")
    assert "secret" not in str(raised.value)


def test_a_missing_token_file_is_reported(regard: Regard, flat_run: Path) -> None:
    result = regard("serve", flat_run, "--token-file", "nowhere")
    assert (result.code, result.error) == (2, "--token-file nowhere: No such file or directory")


@pytest.mark.parametrize("host", ["0.0.0.0", pytest.param("::", marks=needs_ipv6)])
def test_an_address_that_others_can_reach_needs_a_token(
    host: str, regard: Regard, flat_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REGARD_TOKEN", raising=False)
    result = regard("serve", flat_run, "--port", "0", "--host", host)
    assert (result.code, result.out) == (2, "")
    assert result.error == (
        f"--host {host}: expected a token, since other machines can reach this address, got none; use --token-file FILE "
        "or set REGARD_TOKEN (`openssl rand -hex 24` makes one), or pass --no-token"
    )


def test_the_need_for_a_token_can_be_waived_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with listen("0.0.0.0", 0) as listening:
        check_token(Address("0.0.0.0", needs_token=False), listening)
        assert "without a token, everyone who can reach 0.0.0.0 can use this server" in sys.stderr.getvalue()
        check_token(Address("0.0.0.0", token=TOKEN), listening)
    with listen("127.0.0.1", 0) as listening:
        check_token(Address(), listening)


def test_no_token_and_a_token_file_exclude_each_other(regard: Regard, flat_run: Path) -> None:
    result = regard("serve", flat_run, "--no-token", "--token-file", "x")
    assert result.code == 2
    assert "--token-file: not allowed with argument --no-token" in result.error


# addresses


@needs_ipv6
def test_requests_over_ipv6_are_answered(flat_run: Path) -> None:
    with Server(listen("::1", 0)) as server:
        server.application.set_runs([ServedRun("flat", load(flat_run))])
        for host, status in ((f"[::1]:{server.port}", 200), ("[::1]", 403)):
            connection = HTTPConnection("::1", server.port, timeout=60)
            connection.request("GET", "/health", headers={"Host": host})
            assert connection.getresponse().status == status
            connection.close()


@needs_ipv6
def test_it_listens_on_ipv6() -> None:
    for host in ("::1", "[::1]"):
        with listen(host, 0) as listening:
            assert page_address(listening) == f"http://[::1]:{listening.getsockname()[1]}/"
            assert is_local(listening)
            assert senders((), listening) == Senders()
    with listen("::", 0) as listening:
        assert is_any_address(listening)
        if socket.has_dualstack_ipv6():
            socket.create_connection(("127.0.0.1", listening.getsockname()[1])).close()


def test_an_unknown_address_is_reported(regard: Regard, flat_run: Path) -> None:
    result = regard("serve", flat_run, "--host", "no such name", "--port", "0")
    assert result.code == 2
    assert result.error.startswith("--host: expected an address or a name of this machine, got 'no such name' (")
    foreign = regard("serve", flat_run, "--host", "192.0.2.1", "--port", "0")  # reserved for documentation
    assert foreign.code == 2
    assert foreign.error.startswith("--host 192.0.2.1 --port 0: Cannot assign requested address; ")


# hosts


@pytest.mark.parametrize(
    ("allowed", "host", "origin"),
    [
        (Senders(), "127.0.0.1:8642", "http://localhost:8642"),
        (Senders(("texts.example",)), "texts.example", "https://texts.example"),
        (Senders(("texts.example",)), "texts.example:8642", "http://texts.example:8642"),
        (Senders(("texts.example:99",)), "TEXTS.example:99", "https://texts.example:99"),
        (Senders(("[2001:db8::1]",)), "[2001:db8::1]:8642", None),
        (Senders(bound="192.0.2.7"), "192.0.2.7:8642", "http://192.0.2.7:8642"),
        (Senders(any_address=True), "192.0.2.7:8642", "http://192.0.2.7:8642"),
        (Senders(any_address=True), "[2001:db8::1]:8642", None),
    ],
)
def test_known_senders_are_accepted(allowed: Senders, host: str, origin: str | None) -> None:
    allowed.check([host], [] if origin is None else [origin], 8642)


@pytest.mark.parametrize(
    ("allowed", "host", "origin"),
    [
        (Senders(("texts.example",)), "texts.example:99", None),
        (Senders(("texts.example",)), "evil.texts.example", None),
        (Senders(("texts.example:99",)), "texts.example", None),
        (Senders(bound="192.0.2.7"), "192.0.2.8:8642", None),
        (Senders(any_address=True), "evil.example:8642", None),
        (Senders(any_address=True), "192.0.2.7", None),
        (Senders(any_address=True), "192.0.2.7:99", None),
        (Senders(any_address=True), "192.0.2.7:8642", "http://192.0.2.8:8642"),
        (Senders(any_address=True), "192.0.2.7:8642", "https://192.0.2.7:8642"),
        (Senders(("texts.example",)), "texts.example", "https://evil.example"),
        (Senders(("texts.example",)), "texts.example", "null"),
    ],
)
def test_unknown_senders_are_refused(allowed: Senders, host: str, origin: str | None) -> None:
    with pytest.raises(RequestError) as raised:
        allowed.check([host], [] if origin is None else [origin], 8642)
    assert raised.value.status == 403


def test_a_refused_host_is_told_how_to_be_accepted() -> None:
    with pytest.raises(RequestError) as raised:
        Senders(("texts.example",)).check(["evil.example"], [], 80)
    assert raised.value.sentence == (
        "Host: expected one of 127.0.0.1, 127.0.0.1:80, [::1], [::1]:80, localhost, localhost:80, texts.example, "
        "texts.example:80, got 'evil.example'; --allow-host NAME adds a name"
    )


def test_a_name_that_is_not_a_host_is_refused(regard: Regard, flat_run: Path) -> None:
    assert checked_hosts(["Texts.Example", "2001:DB8::1", "a:80"]) == ("texts.example", "[2001:db8::1]", "a:80")
    for name in ("https://texts.example", "", "*", "a b"):
        result = regard("serve", flat_run, "--allow-host", name)
        assert result.code == 2
        assert result.error.startswith("--allow-host: expected a name such as texts.example.org or name:8080, got ")


def test_a_missing_library_is_named(flat_run: Path) -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from regard.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "serve", str(flat_run), "--port", "0"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "regard: regard serve needs uvicorn, which is not installed: pip install uvicorn\n"


@pytest.mark.parametrize("workers", [0, 65, -1])
def test_the_number_of_workers_is_limited(workers: int, regard: Regard, flat_run: Path) -> None:
    result = regard("serve", flat_run, "--workers", workers)
    assert (result.code, result.error) == (2, f"--workers: expected 1 to 64, got {workers}")


# the page


@pytest.mark.skipif(chromium() is None, reason=f"no browser among {', '.join(NAMES)}")
def test_the_page_asks_for_the_token_once(browser: Browser, flat_run: Path) -> None:
    with serving_runs(ServedRun("flat", load(flat_run)), token=TOKEN) as served:
        browser.send("Page.navigate", url=f"http://127.0.0.1:{served.port}/")
        for given, alert in (("not-the-token-at-all", False), (TOKEN, True)):
            browser.until("document.activeElement?.id === 'token'")
            assert browser.evaluate("!document.querySelector('dialog [role=alert]').hidden") == alert
            browser.write(given)
            browser.evaluate("document.querySelector('dialog button').click()")
            browser.until(f"document.activeElement?.id !== 'token' || document.activeElement.value !== {given!r}")
        browser.until("document.getElementById('method').options.length > 0 && !document.querySelector('dialog')")
        write(browser, "A good room")
        assert browser.evaluate("document.cookie") == ""
        assert TOKEN not in " ".join(browser.requests())
        browser.events.clear()
        browser.send("Page.reload")
        browser.until("document.getElementById('method')?.options.length > 0 && !!document.querySelector('.empty')")
        assert not browser.evaluate("!!document.querySelector('dialog')"), "kept until the tab is closed"


@pytest.mark.skipif(chromium() is None, reason=f"no browser among {', '.join(NAMES)}")
def test_a_server_without_a_token_does_not_ask(browser: Browser, flat: Serving) -> None:
    visit(browser, flat)
    assert not browser.evaluate("!!document.querySelector('dialog')")

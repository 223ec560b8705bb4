"""A browser for tests: headless Chromium, controlled over two pipes by the DevTools protocol, without further packages.

With `--remote-debugging-pipe` Chromium reads commands from file descriptor 3 and answers on 4; each message is
JSON, ended by a zero byte (https://chromedevtools.github.io/devtools-protocol/).
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# moves the pipes to descriptors 3 and 4 and becomes Chromium
START = "import os, sys; [os.dup2(int(end), k) for k, end in zip((3, 4), sys.argv[1:])]; os.execv(sys.argv[3], sys.argv[3:])"
Message = dict[str, Any]


def chromium() -> str | None:
    """The path of Chromium, or None if it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. `events` has everything the browser reports by itself: console messages, errors, requests."""

    def __init__(
        self, profile: Path, size: tuple[int, int] = (1280, 900), flags: tuple[str, ...] = (), patience: float = 30
    ) -> None:
        program = chromium()
        assert program is not None
        (commands, self._out), (self._in, answers) = os.pipe(), os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (commands, answers)]  # not 3 or 4, which are overwritten
        arguments = [*FLAGS, *flags, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, *map(str, ends), program, *arguments],
            pass_fds=ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (commands, answers, *ends):
            os.close(end)
        self.events: list[Message] = []
        self._patience = patience  # seconds to wait for an answer
        self._kept, self._number, self._session = b"", 0, ""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._session = ""
        try:
            self.send("Browser.close")
        except (OSError, EOFError):
            self._process.kill()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def send(self, method: str, **params: Any) -> Any:
        """Send a command and wait for its result; events that arrive before it are kept."""
        self._number += 1
        message: Message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        left = json.dumps(message).encode() + b"\0"
        while left:
            left = left[os.write(self._out, left) :]
        while True:
            received = self._receive(self._patience)
            if received.get("id") == self._number:
                assert "error" not in received, f"{method}: {received['error']}"
                return received["result"]
            self.events.append(received)

    def _receive(self, seconds: float) -> Message:
        end = time.monotonic() + seconds
        while b"\0" not in self._kept:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser did not answer")
            piece = os.read(self._in, 1 << 16)
            if not piece:
                raise EOFError("the browser closed the connection")
            self._kept += piece
        message, _, self._kept = self._kept.partition(b"\0")
        parsed: Message = json.loads(message)
        return parsed

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded and drawn."""
        self.send("Page.navigate", url=path.absolute().as_uri())
        self.until("document.readyState === 'complete' && location.protocol === 'file:'")
        self.frame()

    def evaluate(self, expression: str) -> Any:
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def frame(self) -> None:
        """Wait two frames, after which all earlier changes are drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def until(self, expression: str, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"timeout: {expression}"
            time.sleep(0.05)

    def move(self, x: float, y: float) -> None:
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.frame()

    def click(self, x: float, y: float) -> None:
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.frame()

    def click_on(self, selector: str) -> None:
        """A mouse click in the middle of an element."""
        quoted = json.dumps(selector)
        self.evaluate(f"document.querySelector({quoted}).scrollIntoView({{block: 'nearest'}})")
        box = self.evaluate(f"document.querySelector({quoted}).getBoundingClientRect().toJSON()")
        self.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def write(self, text: str) -> None:
        self.send("Input.insertText", text=text)
        self.frame()

    def press(self, key: str) -> None:
        """Press a key, by name (Enter, ArrowDown, Tab, Escape)."""
        code = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[
            key
        ]
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)
        self.frame()

    def media(self, **features: str) -> None:
        """Set media features, such as `prefers_color_scheme="dark"`."""
        settings = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.send("Emulation.setEmulatedMedia", features=settings)
        self.frame()

    def console_messages(self) -> list[str]:
        """Errors and console messages so far."""
        methods = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(event["params"])[:2000] for event in self.events if event.get("method") in methods]

    def requests(self) -> list[str]:
        """The URLs requested so far, without data URLs."""
        urls = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("data:")]

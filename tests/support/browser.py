"""A browser without a window, driven over a pipe: pages are opened, measured and photographed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["Browser", "browser_path"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
PATIENCE = 120  # seconds without a word from the browser
TALLEST = 15_000  # pixels
# The browser reads commands from descriptor 3 and answers on 4.
LAUNCH = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def browser_path() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page of a fresh profile; ``requests`` gathers what pages asked for, ``complaints`` what went wrong."""

    def __init__(self, program: str, profile: Path) -> None:
        orders, self._out = os.pipe()
        self._in, answers = os.pipe()
        command = [sys.executable, "-c", LAUNCH, str(orders), str(answers), program, *FLAGS]
        command += [f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            command, pass_fds=(orders, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(orders)
        os.close(answers)
        self._number, self._buffer, self._session = 0, b"", ""
        self._past: list[str] = []
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def open(self, page: Path, width: int, height: int, dark: bool = False, media: str = "") -> None:
        """Load a page on a screen of this size and theme, or as it would be printed."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self._past.clear()
        self.ask("Page.navigate", url=page.absolute().as_uri())
        self._wait(lambda: "Page.loadEventFired" in self._past)

    def value(self, expression: str) -> Any:
        """What a script on the page says, or promises."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def photograph(self, file: Path) -> None:
        """The page from its top, as far as a picture can hold it."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], TALLEST), "scale": 1}
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True, format="png", clip=clip)["data"]
        file.write_bytes(base64.b64decode(data))

    def print_to(self, file: Path) -> None:
        data = self.ask("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"]
        file.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        try:
            self._session = ""
            self.ask("Browser.close")
        except (OSError, EOFError):  # a TimeoutError is an OSError
            self._process.terminate()
        self._process.wait(30)
        os.close(self._out)
        os.close(self._in)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        order: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            order["sessionId"] = self._session
        os.write(self._out, json.dumps(order).encode() + b"\0")
        while (message := self._next()).get("id") != self._number:
            self._note(message)
        assert "error" not in message, message
        result: dict[str, Any] = message["result"]
        return result

    def _wait(self, happened: Callable[[], bool]) -> None:
        while not happened():
            self._note(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], PATIENCE)[0]:
                raise TimeoutError(f"the browser has not answered in {PATIENCE} s")
            part = os.read(self._in, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        decoded: dict[str, Any] = json.loads(message)
        return decoded

    def _note(self, event: dict[str, Any]) -> None:
        name, facts = event.get("method", ""), event.get("params", {})
        self._past.append(name)
        if name == "Network.requestWillBeSent":
            self.requests.append(facts["request"]["url"])
        if name in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(json.dumps(facts)[:4000])
        if name == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {facts['message']}")

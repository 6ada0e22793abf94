"""Headless Chromium, driven by the DevTools protocol over its web socket."""

import base64
import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from websockets.sync.client import connect

from .gateway import wait_until
from .processes import end

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 60

# What the protocol wants of a key that is more than its character.
KEYS = {
    "Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Escape": {"key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 27},
    "Tab": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
    "ArrowRight": {"key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39},
    "ArrowLeft": {"key": "ArrowLeft", "code": "ArrowLeft", "windowsVirtualKeyCode": 37},
}


class Browser:
    """One process; its profile and its output are in the folder."""

    def __init__(self, folder):
        assert PROGRAM, "chromium is not installed: deploy/setup.sh --tests"
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.output = folder / "output"
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                [PROGRAM, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={folder}/profile",
                 "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                 "--force-color-profile=srgb", "about:blank"],
                stdout=output, stderr=subprocess.STDOUT)
        found = wait_until(
            lambda: re.search(r"DevTools listening on (ws://\S+)", self.text()) or self.process.poll() is not None,
            seconds=PATIENCE, what="the browser")
        assert found is not True, self.text()
        self.open_socket = contextlib.ExitStack()
        self.socket = self.open_socket.enter_context(
            connect(found[1], max_size=None, open_timeout=PATIENCE, compression=None))
        self.numbers = itertools.count(1)
        self.events = []
        # By session: what answers requests in place of the server.
        self.answers = {}

    def text(self):
        return self.output.read_text(errors="replace")

    def send(self, method, session=None, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self.socket.send(json.dumps(message))
        return number

    def call(self, method, session=None, **parameters):
        number = self.send(method, session, **parameters)
        while True:
            answer = json.loads(self.socket.recv(timeout=PATIENCE))
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            if answer.get("method") == "Fetch.requestPaused":
                self.answer(answer["sessionId"], answer["params"])
            elif "method" in answer:
                self.events.append(answer)

    def answer(self, session, paused):
        """Answers a request that was held back; nobody waits for what the browser says to it."""
        asked = paused["request"]
        status, value = self.answers[session](asked["method"], asked["url"], asked.get("postData"))
        self.send(
            "Fetch.fulfillRequest", session, requestId=paused["requestId"], responseCode=status,
            responseHeaders=[{"name": "content-type", "value": "application/json"}],
            body=base64.b64encode(json.dumps(value).encode()).decode())

    def open(self, url, width=1280, height=900, dark=False, reduced=False, answers=None):
        """A tab at a page.

        `answers` is called with method, URL and body of each request below /routes, and of /config, in place of the
        server, while this waits for the browser; it says status and JSON.
        """
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced else "no-preference"}])
        if answers:
            self.answers[session] = answers
            page.call("Fetch.enable", patterns=[{"urlPattern": "*/routes*"}, {"urlPattern": "*/config"}])
        page.call("Page.navigate", url=url)
        page.until(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")
        return page

    def stop(self):
        self.open_socket.close()
        end(self.process)


class Page:
    """One tab."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def run(self, expression):
        """The value of a script, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression, seconds=30):
        return wait_until(lambda: self.run(expression), seconds, f"in the page: {expression}")

    def text(self, selector):
        """What is shown of an element; empty when there is none."""
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def click(self, selector):
        """A click of the mouse in the middle of what is there, so that what lies over it would get it."""
        place = self.run(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{ block: "center", behavior: "instant" }});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def press(self, *keys, modifiers=0):
        for key in keys:
            known = KEYS.get(key, {"key": key, "text": key})
            self.call("Input.dispatchKeyEvent", type="keyDown", modifiers=modifiers, **known)
            self.call("Input.dispatchKeyEvent", type="keyUp", modifiers=modifiers,
                      **{name: value for name, value in known.items() if name != "text"})

    def type(self, text):
        self.call("Input.insertText", text=text)

    def focused(self):
        """A short description of what has the focus."""
        return self.run("""(() => {
            const one = document.activeElement;
            return one.id || one.getAttribute("aria-label") || one.innerText || one.tagName;
        })()""")

    def faults(self):
        """Uncaught exceptions, and what the browser complains of: a broken content security policy, a failed script."""
        self.run("0")
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            if event["method"] == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"])
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"])
        return found

    def screenshot(self, file, full=False):
        more = {}
        if full:
            # What sticks to the top belongs there.
            self.run("scrollTo(0, 0)")
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            more = {"captureBeyondViewport": True, "clip": {**size, "scale": 1}}
        data = self.call("Page.captureScreenshot", format="png", **more)["data"]
        Path(file).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


def screenshots(folder):
    """Where pictures go: TURNOUT_SCREENSHOTS, which are kept, else the test's own folder."""
    kept = Path(os.environ.get("TURNOUT_SCREENSHOTS") or folder)
    kept.mkdir(parents=True, exist_ok=True)
    return kept

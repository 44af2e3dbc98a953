"""A headless Chromium, spoken to by its own protocol over a pipe: no package is needed, and no port."""

import json
import os
import subprocess
import tempfile
import time


class Browser:
    def __init__(self, program):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command_out, self._to = os.pipe()
        self._from, answer_in = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                 "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--user-data-dir={self._folder.name}", "about:blank"]

        def as_3_and_4():
            # Away from 3 and 4 first, as the one may be what the other is.
            reads, writes = os.dup2(command_out, 60), os.dup2(answer_in, 61)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self._process = subprocess.Popen([program, *flags], preexec_fn=as_3_and_4, close_fds=False,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_out)
        os.close(answer_in)
        self._buffer, self._number, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def _message(self):
        while b"\0" not in self._buffer:
            more = os.read(self._from, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """Returns the answer; what the browser tells meanwhile is added to `events`."""
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        os.write(self._to, json.dumps(request).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, method, session):
        """Until the browser tells that."""
        seen = 0
        while True:
            for event in self.events[seen:]:
                if event.get("method") == method and event.get("sessionId") == session:
                    return event
            seen = len(self.events)
            self.events.append(self._message())


class Page:
    """One that was loaded, in a window of that width."""

    def __init__(self, browser, url, width, scheme="light", height=900):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.events.clear()
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=url)
        browser.wait_for("Page.loadEventFired", self.session)
        time.sleep(0.05)
        self.evaluate("1")  # takes in what was told until now

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", str(answer)))
        return answer["result"].get("value")

    def key(self, name, code=0, text=""):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, **extra)

    def told(self, *methods):
        return [e["params"] for e in self.browser.events if e.get("sessionId") == self.session and e.get("method") in methods]

    def problems(self):
        """Errors and warnings on the console, exceptions, and requests other than the page itself."""
        found = [f"console: {e['type']}: {e['args']}" for e in self.told("Runtime.consoleAPICalled")]
        found += [f"exception: {e['exceptionDetails']}" for e in self.told("Runtime.exceptionThrown")]
        found += [f"log: {e['entry']['level']}: {e['entry']['text']}" for e in self.told("Log.entryAdded")]
        asked = [e["request"]["url"] for e in self.told("Network.requestWillBeSent")]
        return found + [f"request: {url}" for url in asked[1:]]

    def screenshot(self):
        import base64
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"])

    def pdf(self):
        import base64
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)["data"])

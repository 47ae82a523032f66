"""A page in headless Chromium, over the pipe of its debugging protocol."""
import json
import os
import shutil
import subprocess
import tempfile

BROWSER = shutil.which("chromium")


class Page:
    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="dtx-chromium-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def wire():  # the browser reads descriptor 3 and writes 4
            a, b = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-background-networking", "--user-data-dir=" + self.home, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=wire)
        os.close(theirs_in)
        os.close(theirs_out)
        self.read, self.write = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")
        self.serial, self.events, self.session = 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(domain + ".enable")

    def message(self):
        text = bytearray()
        while True:
            byte = self.read.read(1)
            if byte in (b"", b"\0"):
                break
            text += byte
        if not text:
            raise RuntimeError("the browser ended")
        return json.loads(text)

    def call(self, method, **params):
        self.serial += 1
        ask = {"id": self.serial, "method": method, "params": params}
        if self.session:
            ask["sessionId"] = self.session
        self.write.write(json.dumps(ask).encode() + b"\0")
        self.write.flush()
        while True:
            got = self.message()
            if got.get("id") == self.serial:
                if "error" in got:
                    raise RuntimeError("%s: %s" % (method, got["error"]))
                return got["result"]
            self.events.append(got)

    def open(self, url):
        """Loads the page; the addresses that were asked for."""
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def value(self, code):
        got = self.call("Runtime.evaluate", expression=code, returnByValue=True)
        if "exceptionDetails" in got:
            raise RuntimeError(got["exceptionDetails"])
        return got["result"].get("value")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

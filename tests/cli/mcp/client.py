"""A small client of `dtx mcp` for the tests: sends messages, a line each, and checks all that comes back.

Every line of stdout must be a message of JSON-RPC, and fit the schema of its revision where the published
schemas are at hand (a folder mcp in $DTX_SHARED_DATA, default ../shared/data). Every structured result must fit the tool's own
outputSchema; without python3-jsonschema the test fails, as it belongs to what tests need."""
import json
import os
import select
import subprocess
import sys

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
DEADLINE = 120


def validator():
    import jsonschema

    return jsonschema


def published(revision):
    """The definitions of a revision, or None."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    data = os.environ.get("DTX_SHARED_DATA", os.path.join(root, "..", "shared", "data"))
    path = os.path.join(data, "mcp", f"schema-{revision}.json")
    if not os.path.isfile(path):
        return None
    with open(path) as f:
        return json.load(f)


class Client:
    def __init__(self, *args, modern=True, env=None, stderr=None):
        self.modern, self.next_id, self.replies, self.rest = modern, 0, {}, b""
        self.order, self.broken, self.bytes = [], [], b""
        self.progress = []  # what notifications of progress said
        self.process = subprocess.Popen(
            [os.environ["DTX"], "mcp", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
            env=dict(os.environ, **(env or {})))
        self.tools = {}
        self.schema = published(MODERN if modern else LEGACY)
        if not modern:
            self.ask("initialize", {"protocolVersion": LEGACY, "capabilities": {},
                                    "clientInfo": {"name": "test", "version": "1"}})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def request(self, method, params=None, id=None):
        """Sends a request without waiting; returns its id."""
        self.next_id += 1
        id = self.next_id if id is None else id
        params = dict(params or {})
        if self.modern:
            params["_meta"] = {**META, **params.get("_meta", {})}
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return id

    def read(self, seconds=DEADLINE):
        """Reads what is there, or waits for it. False: nothing came, or the end."""
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return False
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.bytes += data
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            message = json.loads(line.decode("utf-8"))
            assert message["jsonrpc"] == "2.0", message
            if message.get("method") == "notifications/progress":
                self.fits(message, "ProgressNotification")
                self.progress.append(message["params"])
                continue
            assert ("result" in message) != ("error" in message), message
            self.check(message)
            if "id" in message:
                assert message["id"] not in self.replies, message
                self.replies[message["id"]] = message
                self.order.append(message["id"])
            else:
                self.broken.append(message)
        return bool(data)

    def check(self, message):
        name = "JSONRPCErrorResponse" if "error" in message else "JSONRPCResultResponse"
        if self.schema:
            self.fits(message, name)

    def fits(self, value, name):
        """Checks a value against a definition of the published schema, where that is at hand."""
        if self.schema:
            validator().Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": self.schema["$defs"]}).validate(value)

    def wait(self, id, seconds=DEADLINE):
        while id not in self.replies:
            assert self.read(seconds), f"no answer to {id}"
        return self.replies.pop(id)

    def ask(self, method, params=None):
        message = self.wait(self.request(method, params))
        return message["result"] if "result" in message else message["error"]

    def start(self, tool, **arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def result(self, tool, message):
        """The structured content of an answer to a tool, checked; of a refusal, its text."""
        result = message["result"]
        self.fits(result, "CallToolResult")
        if result.get("isError"):
            assert "structuredContent" not in result, result
            return result["content"][0]["text"]
        if not self.tools:
            self.tools = {t["name"]: t for t in self.ask("tools/list")["tools"]}
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        validator().validate(result["structuredContent"], self.tools[tool]["outputSchema"])
        self.content = result["content"][1:]
        return result["structuredContent"]

    def call(self, tool, **arguments):
        return self.result(tool, self.wait(self.start(tool, **arguments)))

    def end(self):
        """Closes stdin; returns the exit status and what came last."""
        self.process.stdin.close()
        while self.read():
            pass
        assert not self.rest, self.rest
        return self.process.wait(DEADLINE)


def show(title, value):
    print(f"{title}: {json.dumps(value)}")

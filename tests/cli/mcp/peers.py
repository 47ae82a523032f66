"""The official peers: the SDK's client and the inspector's command line over stdio, and the conformance suite
through a bridge from HTTP to stdio. They come from npm, into the folder that DTX_PEERS names:

    npm install node@22 @modelcontextprotocol/sdk @modelcontextprotocol/inspector @modelcontextprotocol/conformance

Scenarios that do not apply to this server, and why:
  completion-complete, prompts-*                   it has no prompts, and so nothing to complete
  tools-call-*, json-schema-2020-12, elicitation-* they call tools of the suite's own example server
  resources-read-*, resources-templates-read       they read resources of that server
  server-sse-*, dns-rebinding-protection           they are about HTTP, which is the bridge's own
The suite on npm has no scenario of 2026-07-28 yet; protocol.py checks that revision against its schema."""
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
DTX, PEERS = os.environ["DTX"], os.environ["DTX_PEERS"]
MODULES = os.path.join(PEERS, "node_modules")
NODE = os.path.join(MODULES, ".bin", "node")
SCENARIOS = ("server-initialize", "ping", "logging-set-level", "tools-list", "resources-list", "resources-subscribe",
             "resources-unsubscribe")

os.symlink(MODULES, "node_modules")
shutil.copy(os.path.join(HERE, "peers_sdk.mjs"), ".")
with open("in.csv", "w") as f:
    f.write("k,n\na,1\nb,2\n")
print(subprocess.run([NODE, "peers_sdk.mjs", DTX], capture_output=True, text=True).stdout, end="")

cli = os.path.join(MODULES, "@modelcontextprotocol", "inspector-cli", "build", "index.js")
for more in (["tools/list"], ["resources/list"], ["tools/call", "--tool-name", "describe", "--tool-arg", "path=in.csv"]):
    got = subprocess.run([NODE, cli, DTX, "mcp", "--method", *more], capture_output=True, text=True)
    answer = json.loads(got.stdout)
    print("inspector", more[0], got.returncode, sorted(answer))


class Bridge(http.server.BaseHTTPRequestHandler):
    """Each request is a line to the server; its answer, if it has one, is the line that comes back."""
    lock = threading.Lock()
    server_process = subprocess.Popen([DTX, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.lock:
            self.server_process.stdin.write(json.dumps(message).encode() + b"\n")
            self.server_process.stdin.flush()
            answer = self.server_process.stdout.readline() if "id" in message else b""
        self.send_response(200 if answer else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_GET(self):
        self.send_error(405)

    do_DELETE = do_GET

    def log_message(self, *args):
        pass


bridge = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
threading.Thread(target=bridge.serve_forever, daemon=True).start()
suite = os.path.join(MODULES, "@modelcontextprotocol", "conformance", "dist", "index.js")
for scenario in SCENARIOS:
    got = subprocess.run([NODE, suite, "server", "--url", f"http://127.0.0.1:{bridge.server_port}/mcp", "--scenario",
                          scenario], capture_output=True, text=True)
    print("conformance", scenario, "passed" if got.returncode == 0 else got.stdout[-600:] + got.stderr[-300:])
bridge.shutdown()
Bridge.server_process.stdin.close()
print("end", Bridge.server_process.wait())
sys.stdout.flush()

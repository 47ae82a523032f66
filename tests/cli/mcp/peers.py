"""The official peers: the SDK's client and the inspector's command line over stdio, and the conformance suite
through a bridge from HTTP to stdio. They come from npm, into the folder that DTX_PEERS names:

    npm install --allow-scripts=node node@22 @modelcontextprotocol/sdk @modelcontextprotocol/inspector \\
        @modelcontextprotocol/conformance@0.2.0-alpha.12

An earlier suite has no scenario of 2026-07-28. Scenarios that do not apply to this server, and why:
  completion-complete, prompts-*                   it has no prompts, and so nothing to complete
  tools-call-*, json-schema-2020-12, elicitation-* they call tools of the suite's own example server
  input-required-result-* (but for three)          the same
  resources-read-*, resources-templates-read       they read resources of that server
  server-session-lifecycle, server-sse-*, http-*, dns-rebinding-protection
                                                   they are about HTTP, which is the bridge's own
  tasks-*, sep-2640-*                              extensions that it does not have
Single checks that do not apply are in OTHERS."""
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
DTX, PEERS = os.environ["DTX"], os.environ["DTX_PEERS"]
MODULES = os.path.join(PEERS, "node_modules")
NODE = os.path.join(MODULES, ".bin", "node")
SCENARIOS = {
    "2025-11-25": ("server-initialize", "ping", "logging-set-level", "tools-list", "resources-list",
                   "resources-subscribe", "resources-unsubscribe"),
    "2026-07-28": ("server-stateless", "tools-list", "resources-list", "sep-2164-resource-not-found", "caching",
                   "input-required-result-unsupported-methods", "input-required-result-ignore-extra-params",
                   "input-required-result-validate-input")}
# HTTP status and headers; tools of the suite's server; prompts
OTHERS = ("sep-2575-http-server-unsupported-version-400", "sep-2575-http-server-header-mismatch-400",
          "sep-2575-missing-capability-http-400", "sep-2575-server-rejects-undeclared-capability",
          "sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel",
          "sep-2549-prompts-list-caching-hints")
# every tool for the inspector; {run} and {session} are those of an earlier answer
CALLS = (
    ("describe", "path=in.csv"),
    ("run_plan", 'plan={"dtx":1,"steps":[{"op":"filter","where":"n > 1"}]}', 'files={"main":"in.csv"}'),
    ("list",), ("provenance", "run={run}"), ("why", "run={run}", "column=n", "row=1"), ("replay", "run={run}"),
    ("wait", "run_id={run}"), ("submit_code", "ticket=x", "code=x"), ("open_session",),
    ("run_python", "code=print(6 * 7)"), ("close_session", "session=x"))

os.symlink(MODULES, "node_modules")
shutil.copy(os.path.join(HERE, "peers_sdk.mjs"), ".")
with open("in.csv", "w") as f:
    f.write("k,n\na,1\nb,2\n")
print(subprocess.run([NODE, "peers_sdk.mjs", DTX], capture_output=True, text=True).stdout, end="")

cli = os.path.join(MODULES, "@modelcontextprotocol", "inspector-cli", "build", "index.js")
run = ""
for more in (["tools/list"], ["resources/list"], ["resources/templates/list"],
             *(["tools/call", "--tool-name", name, *(w for a in args for w in ("--tool-arg", a))] for name, *args in CALLS)):
    got = subprocess.run([NODE, cli, DTX, "mcp", "--method", *(w.replace("{run}", run) for w in more)],
                         capture_output=True, text=True)
    answer = json.loads(got.stdout)
    structured = answer.get("structuredContent", {})
    run = run or structured.get("run_id", "")
    print("inspector", more[2] if more[1:] else more[0], got.returncode,
          structured.get("status") or ("refused" if answer.get("isError") else sorted(answer)))


class Bridge(http.server.BaseHTTPRequestHandler):
    """Each request is a line to the server; its answer, if it has one, is the line that comes back."""
    lock = threading.Lock()
    server_process = None  # one for each revision: what opens an older one has a state

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.lock:
            self.server_process.stdin.write(json.dumps(message).encode() + b"\n")
            self.server_process.stdin.flush()
            answer = self.server_process.stdout.readline() if "id" in message else b""
        failed = json.loads(answer).get("error", {}).get("code") if answer else 0
        self.send_response({-32601: 404, -32602: 400, -32022: 400}.get(failed, 200) if answer else 202)
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
for version, scenarios in SCENARIOS.items():
    with subprocess.Popen([DTX, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as Bridge.server_process:
        for scenario in scenarios:
            got = subprocess.run([NODE, suite, "server", "--url", f"http://127.0.0.1:{bridge.server_port}/mcp",
                                  "--scenario", scenario, "--spec-version", version], capture_output=True, text=True)
            text = re.sub(r"\x1b\[[0-9;]*m", "", got.stdout + got.stderr)
            checks = re.findall(r"\[([\w.-]+) *\] (SUCCESS|FAILURE)", text)
            wrong = [name for name, how in checks if how == "FAILURE" and name not in OTHERS]
            valid = checks and dict(checks).get("wire-schema-valid") != "FAILURE"
            print("conformance", version, scenario, wrong or ("passed" if valid else text[-600:]))
    print("end", Bridge.server_process.returncode)
bridge.shutdown()
sys.stdout.flush()

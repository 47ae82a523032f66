"""A server of chat completions on loopback that behaves as the first part of the path says.

Prints its port, ends when its stdin does.  GET /seen gives the requests as JSON.
"""
import http.server
import json
import sys
import threading

ANSWER = "```python\ndef transform(tables, params):\n    return tables[\"main\"]\n```\n"
SEEN = []
COUNT = {}


def reply(**more):
    body = {"model": "tiny-1", "choices": [{"message": {"role": "assistant", "content": ANSWER},
                                            "finish_reason": "stop"}]}
    body.update(more)
    return json.dumps(body).encode()


USAGE = {"prompt_tokens": 120, "completion_tokens": 30}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send(self, status, body, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send(200, json.dumps(SEEN).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        name = self.path.split("/")[1]
        COUNT[name] = COUNT.get(name, 0) + 1
        SEEN.append({"path": self.path, "auth": self.headers.get("Authorization"),
                     "body": json.loads(body)})
        getattr(self, "on_" + name)(COUNT[name])

    def on_ok(self, n):
        self.send(200, reply(usage=dict(USAGE, cost=0.0021)))

    def on_plain(self, n):
        self.send(200, reply())

    def on_busy(self, n):
        if n == 1:
            self.send(429, b'{"error":{"message":"slow down"}}', Retry_After="7")
        else:
            self.on_ok(n)

    def on_long_busy(self, n):
        self.send(429, b"{}", Retry_After="3600")

    def on_weak(self, n):
        if n <= 2:
            self.send(500, b"oops")
        else:
            self.on_ok(n)

    def on_broken(self, n):
        self.send(503, b'{"error":"no\\nmodel is loaded"}')

    def on_cut(self, n):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"choices":')
        self.close_connection = True

    def on_dropped(self, n):
        self.close_connection = True
        self.connection.close()

    def on_text(self, n):
        self.send(200, b"<html>not here</html>")

    def on_empty(self, n):
        self.send(200, b'{"choices":[]}')

    def on_null(self, n):
        self.send(200, b'{"choices":[{"message":{"content":null}}]}')

    def on_length(self, n):
        self.send(200, reply(usage=USAGE, choices=[
            {"message": {"content": "```python\nx"}, "finish_reason": "length"}]))

    def on_moved(self, n):
        self.send(302, b"", Location="http://127.0.0.1:1/")

    def on_denied(self, n):
        auth = self.headers.get("Authorization", "")
        self.send(401, json.dumps({"error": {"message": "no such key: " + auth}}).encode())

    def on_echo(self, n):
        auth = self.headers.get("Authorization", "")
        self.send(200, reply(choices=[{"message": {"content": "# " + auth + "\n" + ANSWER}}]))

    def on_huge(self, n):
        try:
            self.send(200, reply(pad="x" * (5 << 20)))
        except OSError:
            self.close_connection = True

    def on_slow(self, n):
        self.rfile.read(1)  # until the other side gives up
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


def main():
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write("%d\n" % server.server_address[1])
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()

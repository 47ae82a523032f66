"""Lines that are no message, floods, and the end: the server answers what it can and goes on."""
import json
import signal
import threading

from client import META, Client, show


def broken(title, line, answers=1):
    before = len(c.broken)
    c.raw(line)
    c.ask("resources/list")  # what comes first is answered first
    got = c.broken[before:]
    assert len(got) == answers, (title, got)
    show(title, [m["error"] for m in got])


c = Client()
broken("no JSON", b"hello\n")
broken("cut JSON", b'{"jsonrpc":"2.0","id":1\n')
broken("no UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}\n')
broken("twice a key", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}\n')
broken("NUL", b'{"jsonrpc":"2.0","id":1,"method":"\0"}\n')
broken("deep", b"[" * 200 + b"]" * 200 + b"\n")
broken("batch", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n')
broken("number", b"7\n")
broken("null as id", b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n')
broken("no version", b'{"method":"ping"}\n')
broken("no method", b'{"jsonrpc":"2.0","method":7}\n')
broken("list as params", b'{"jsonrpc":"2.0","method":"x","params":[]}\n')
broken("9 MiB", b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (9 << 20) + b'"}\n')
broken("blank lines", b"\n  \n\r\n", 0)
c.raw(b'{"jsonrpc":"2.0","id":"crlf","method":"resources/list","params":{"_meta":' +
      json.dumps(META).encode() + b"}}\r\n")
show("CRLF", "result" in c.wait("crlf"))
c.raw(b'{"jsonrpc":"2.0","id":"piece","met')
c.raw(b'hod":"resources/list","params":{"_meta":' + json.dumps(META).encode() + b"}}\n")
show("in pieces", "result" in c.wait("piece"))
c.request("resources/list", id="near")
c.raw(b'{"jsonrpc":"2.0","id":"large","method":"x","params":{"x":"' + b"y" * ((8 << 20) - 300) + b'"}}\n')
show("nearly 8 MiB", c.wait("large")["error"]["code"])
show("end", c.end())

# 1,000 requests before the first answer is read
c = Client()
c.schema = None
line = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": {"_meta": META}})
flood = "".join(line.replace('"id": 0', f'"id": {i}') + "\n" for i in range(1000))
c.raw(flood.encode())
while len(c.replies) < 1000:
    assert c.read()
show("flood", [c.order == list(range(1000)), len({json.dumps(r["result"]) for r in c.replies.values()})])
show("end", c.end())

# 1,000 calls at once
c = Client()
c.schema = None
sent = [c.start("describe", path=f"missing-{i}.csv") for i in range(1000)]
refused = ["No such file" in c.wait(i)["result"]["content"][0]["text"] for i in sent]
show("calls", sum(refused))
show("end", c.end())

# what came before the end of stdin is answered, and a signal ends it like that end
c = Client()
ids = [c.request("resources/list") for _ in range(5)]
threading.Timer(0, c.process.stdin.close).start()
while c.read():
    pass
show("answered", sum(i in c.replies for i in ids))
show("end", c.process.wait())
c = Client()
c.ask("resources/list")
c.process.send_signal(signal.SIGTERM)
show("SIGTERM", c.process.wait())

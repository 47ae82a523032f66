# How a program can end, by name and status.
try() {
	echo "--- $*" >&2
	"$DTX" exec "$@" >&2 || echo "exit $?" >&2
}
try
try -c 'print(1' 
try -c 'x = 1
def f():
    raise KeyError("no")
f()'
try -c 'import sys; sys.exit(0)'
try -c 'import sys; sys.exit(3)'
try -c 'import os; os.execv("/bin/sh", ["sh"])'
try -c 'import socket; socket.create_connection(("127.0.0.1", 9))'
try -c 'while True: pass' --jail-wall 1
mkdir -p config/dtx && echo '{"jail_wall": 1}' > config/dtx/config.json
XDG_CONFIG_HOME="$PWD/config" try -c 'while True: pass'
DTX_JAIL_WALL=0 try -c 'print(1)'
try -c 'x = bytearray(1 << 30)' --jail-memory 64M
try -c 'open("big", "wb").write(bytes(1 << 21))' --jail-output 1M -o res
try -c '1' --table t=nowhere.csv
try -c '1' --table x
try -c '1' --file ../x=/dev/null
try no_such.py
"$DTX" exec --json -c 'import sys; print("hi"); open("/out/f", "w").write("12"); sys.stderr.write("e"); 1/0' > j || echo "exit $?"
/usr/bin/python3 -c '
import json
d = json.load(open("j"))
r = d["report"]
print(d["ok"], d["error"]["code"], [(f["name"], f["bytes"], f["path"]) for f in d["files"]])
print(r["status"], r["exception"]["type"], r["exception"]["line"], r["stdout"]["text"], r["stderr"]["total"] > 1)
print(sorted(r))'
# zero bytes, which no JSON text of ours has
"$DTX" exec --json -c 'raise ValueError("a\0b")' | grep -o '"message":"[^"]*"' >&2
"$DTX" exec --json -c 'print("a\0b")' | grep -o '"stdout":{[^}]*}' >&2

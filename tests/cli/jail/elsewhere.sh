# A jail on the far side of a command: bubblewrap where it works, else a plain process. Inside it
# the guest locks itself down as always; what comes back is checked here; a far side that is none
# is refused, and one that says it has less than is required.
printf 'k,n\na,1\nb,2\na,3\n' > in.csv
box="bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev"
$box true 2> /dev/null || box=
export DTX_JAIL="exec:$box $DTX jail-guest"
"$DTX" exec -c 'import sys
print(tables["t"]["n"].sum(), open("note").read())
open("/out/deep", "w").write("left")
sys.stdout.buffer.write(bytes([255, 10]))' --table t=in.csv --file note=in.csv -o res | od -An -c | tail -2
cat res/deep; echo
"$DTX" exec --json -c 'import os
try: os.open("/etc/passwd", 0)
except OSError: os.execv("/bin/sh", ["sh"])' > j || echo "exit $?"
/usr/bin/python3 -c '
import json
r = json.load(open("j"))["report"]
print(r["status"], [(d["name"], d["verdict"]) for d in r["denied"]], r["jail"]["verify"], r["jail"]["profile"])'
"$DTX" exec -c 'while True: pass' --jail-wall 1 2> err || { echo "exit $?"; head -1 err; }
for far in exec:false 'exec:cat /dev/zero' exec: elsewhere; do
	DTX_JAIL=$far "$DTX" exec -c 1 2> err || { echo "exit $?"; head -1 err; }
done
long=userns,userns,userns,userns,userns,userns,userns,userns,userns,userns,userns,userns,userns
"$DTX" exec --require-layers "$long,$long" -c 1 2> err || { echo "exit $?"; head -1 err; }
cat > weaker.py << 'END'
import sys
said = bytearray(sys.stdin.buffer.read())
said[12] = 0  # no listener
said[40:48] = (128).to_bytes(8, "little")  # layers: rlimits; landlock
said[120:124] = b"\x1b[2J"  # the version of Python
sys.stdout.buffer.write(said)
END
export DTX_JAIL="$DTX_JAIL | /usr/bin/python3 weaker.py"
echo '{"dtx": 1, "steps": [{"op": "do_the_impossible"}]}' > plan.json
printf 'def transform(tables, params):\n    return tables["main"]\n' > s.py # starts in half the time of a program
"$DTX" run plan.json in.csv --snippet s.py --require-layers seccomp 2> err || { echo "exit $?"; head -1 err; }
"$DTX" exec --json -c 1 > j
/usr/bin/python3 -c '
import json
jail = json.load(open("j"))["report"]["jail"]
print(jail["layers"], jail["runtime"]["python"][:4])'
# what it says of itself is a line of text, whatever its bytes are
cat > rude.py << 'END'
import sys
said = bytearray(sys.stdin.buffer.read())
at = said.find(b"status") + 16  # behind how it verified
text = "no room, é:\nwarning: \x1b[2J\x7f\x9b5m all is well".encode() + b"\xff\xc3\0"
said[8] = 1  # refused
said[at:at + len(text)] = text
sys.stdout.buffer.write(said)
END
DTX_JAIL="exec:$DTX jail-guest | /usr/bin/python3 rude.py" "$DTX" run plan.json in.csv --snippet s.py 2> err || { echo "exit $?"; head -3 err; }

# A jail on the far side of a command: bubblewrap where it works, else a plain process. Inside it
# the guest locks itself down as always; what comes back is checked here; a far side that is none
# is refused.
printf 'k,n\na,1\nb,2\na,3\n' > in.csv
box="bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev"
$box true 2> /dev/null || box=
export DTX_JAIL="exec:$box $DTX jail-guest"
"$DTX" exec -c 'import sys
print(tables["t"]["n"].sum(), open("note").read())
open("/out/deep", "w").write("left")
sys.stdout.buffer.write(bytes([255, 10]))' --table t=in.csv --file note=in.csv -o res | od -An -c | tail -2
cat res/deep; echo
"$DTX" exec --json -c 'import os; os.open("/etc/passwd", 0)' > j || echo "exit $?"
/usr/bin/python3 -c '
import json
r = json.load(open("j"))["report"]
print(r["status"], [(d["name"], d["verdict"]) for d in r["denied"]], r["jail"]["verify"], r["jail"]["profile"])'
"$DTX" exec -c 'import os; os.execv("/bin/sh", ["sh"])' 2> err || { echo "exit $?"; head -1 err; }
"$DTX" exec -c 'while True: pass' --jail-wall 1 2> err || { echo "exit $?"; head -1 err; }
for far in exec:false 'exec:cat /dev/zero' exec: elsewhere; do
	DTX_JAIL=$far "$DTX" exec -c 1 2> err || { echo "exit $?"; head -1 err; }
done

# Where /proc hides processes, main cannot read what the kernel says of its worker and of its reader
# of workbooks: the probe alone decides, and limits and refusals are what they are elsewhere.
cat > hide.sh << 'END'
mount -t proc -o hidepid=2 proc /proc && exec unshare --user --map-user=1000 --map-group=1000 "$@"
END
cat > tell.py << 'END'
import json, sys
r = json.load(sys.stdin)["report"]
print(r["status"], r["jail"]["verify"], r["jail"]["audit"], r["stdout"]["text"].strip(),
      [(d["name"], d["verdict"]) for d in r["denied"]])
END
cat > all.sh << 'END'
said() { "$DTX" exec --json "$@" | /usr/bin/python3 tell.py; }
said -c 'print(1 + 1)'
said --no-warm -c 'print(2 + 2)'
said -c 'import os; os.execv("/bin/sh", ["sh"])'
said --jail-memory 128M -c 'bytearray(500 << 20)'
said --jail-wall 1 -c 'while True: pass'
"$DTX" convert "$FIX/xlsx/weeks.xlsx" --quiet | head -2
"$DTX" convert "$FIX/xls/report.xls" --quiet | head -2
END
export DTX FIX
# nothing is hidden from the group of root
hide="$([ "$(id -u)" != 0 ] || echo setpriv --regid 65534 --clear-groups) unshare --user --map-root-user --mount --pid --fork sh hide.sh"
if $hide grep -q '^proc /proc .*hidepid=' /proc/mounts 2> /dev/null; then
	$hide sh all.sh
else # nothing can be hidden here
	sh all.sh | sed 's/status+probe/probe/'
fi

# Modules that no zygote has imported: read from Python's folders where that is asked for.
. "$LIB"
needs_namespaces
needs_module scipy
export PYTHONWARNINGS=ignore
show='import warnings; warnings.simplefilter("ignore")
import lib2to3.pytree, xxlimited
print(lib2to3.pytree.__file__, xxlimited.foo(1, 2))'
try() {
	echo "--- $*" >&2
	"$DTX" exec -c "$show" "$@" || echo "exit $?" >&2
}
try
try --jail-profile lib-ro
DTX_JAIL_PROFILE=lib-ro try
DTX_JAIL_PROFILE=lib-ro try --jail-profile sealed
DTX_JAIL_PROFILE=open try
try --jail-profile open
# sealed as before, with modules that every zygote has, and one that no machine has
"$DTX" exec -c 'import sqlite3, xml.dom.minidom, decimal; print(decimal.Decimal("0.10"))'
"$DTX" exec -c 'import no_such_module' 2>&1 >&2 | tail -1
# data beside a module, and files of the run, of which nothing changed
"$DTX" exec --jail-profile lib-ro -c 'import os, pkgutil, lib2to3
print(len(pkgutil.get_data("lib2to3", "Grammar.txt")) > 1000, os.path.exists(os.path.dirname(lib2to3.__file__) + "/Grammar.txt"))
print(open(os.path.dirname(lib2to3.__file__) + "/Grammar.txt").readline().strip())
open("/out/x", "w").write("1"); print(os.listdir("/out"), os.path.exists("/etc/passwd"))
try: open("/etc/passwd")
except OSError as error: print(error)' 2>&1 | grep -v Deprecat
# what was asked for is in the record, and in what the doctor says
# (a text that contains the name would start a Python that has scipy)
"$DTX" exec --jail-profile lib-ro --json -c 'import importlib, random, os
print(random.random(), os.urandom(4).hex(), importlib.import_module("sci" "py.spatial").cKDTree([[0, 0], [1, 1]]).query([0.9, 0.9])[1])' > j
/usr/bin/python3 -c '
import json
r = json.load(open("j"))["report"]
print(r["status"], r["stdout"]["text"], r["denied"], r["jail"]["profile"])'
"$DTX" doctor --jail --runs 1 --json --jail-profile lib-ro > d && /usr/bin/python3 -c '
import json
d = json.load(open("d"))
print(d["limits"]["profile"], d["selftest"]["ok"], d["selftest"]["profile"])'
# a snippet of a plan, whose author sees the profile as little as its text does
cp "$FIX/xlsx/weeks.xlsx" "$FIX/plans/balance.json" .
{ echo 'import json.tool'; sed '/^```/d' "$FIX/snippets/balance.txt" | sed -n '/import\|def /,$p'; } > s.py
run() {
	"$DTX" run balance.json weeks.xlsx --snippet s.py -o "$@" 2> err || { echo "exit $?"; head -3 err; }
}
run a.csv
run b.csv --jail-profile lib-ro && head -2 b.csv
"$DTX" provenance b.csv --json | grep -o '"profile": *"[a-z-]*"' | sort -u

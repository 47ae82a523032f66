# What a program may import: packages of Debian, by name or from a module of its own, and what a
# missing one needs.
. "$LIB"
needs_module scipy
needs_module matplotlib
# three of the programs, those whose packages are here; `tests/jail/packages.py DTX` runs all
/usr/bin/python3 -B "$FIX/../tests/jail/packages.py" "$DTX" 90 2 2> said > out
grep '^not ok' out || sed -n 's/.* passed, \(0 failed\),.*/\1/p' out
# modules that are not imported in advance, in a program that does not name the package itself
printf 'import scipy.io.wavfile, scipy.sparse.linalg._propack._dpropack\nimport no_such_package\n' > mine.py
"$DTX" exec -c 'import mine' --file mine.py=mine.py 2> said || echo "exit $?"
grep -A1 ^dtx said
"$DTX" doctor --jail --json --runs 1 | /usr/bin/python3 -c '
import json, sys
all = json.load(sys.stdin)
print({"pandas", "numpy", "scipy", "matplotlib"} <= set(all["packages"]),
      set(all["packages"]) & set(all["missing"]), all["packages"]["pandas"] == all["selftest"]["pandas"],
      all["missing"].get("sklearn", "python3-sklearn"))'

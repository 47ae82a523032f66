. "$LIB"
# the value of the last expression of a single program
value() { dtx exec --json "$@" | /usr/bin/python3 -c 'import json, sys
r = json.load(sys.stdin)["report"]; print(r["status"], json.dumps(r.get("value")))'; }
value -c 'x = 1'
value -c '1 + 1'
value -c 'print(3)'
value -c '"text"'
value -c 'def f(): return 5
f()'
value -c '1/0'
value -c 'list(range(100000))' | cut -c1-60
value -c '"x" * 100000' | wc -c
value -c '"\0\u00e4" * 60000' | wc -c
value -c 'object()'
value -c 'class A:
    def __repr__(self): raise SystemExit(3)
A()'
value -c '10 ** 30'
value -c 'import pandas as pd
pd.DataFrame({"n": [1, 2], "x": [0.5, None], "t": ["a", "b"], "d": pd.to_datetime(["2026-01-02", None]), "i": [10 ** 30, 1], "f": [float("inf"), 1]})'
value -c 'import pandas as pd
pd.DataFrame({"n": range(1000)})' | tail -c 120
value -c 'import pandas as pd
pd.Series([1, 2])'
echo '# only --json has it; what a program prints is as before'
dtx exec -c '1 + 1
2 + 2'
echo '# lines of errors are those of the program'
dtx exec -c 'x = 1

x.y' || echo $?
dtx exec -c 'x = 1
return 5' || echo $?

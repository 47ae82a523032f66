. "$LIB"
# a session from its first call to its end: variables, values, files, figures, the record
export DTX_SESSION_MAX=32
s=t$$
ids() { plain | sed -E "s/$s/S/g; s/\b[0-9a-f]{8}\b/ID/g; s/ [0-9]+ MiB/ N MiB/; s/[0-9]+ s ago/N s ago/g; s/ [0-9]+(,[0-9]+)? bytes/ N bytes/"; }
call() { dtx exec --session $s "$@" 2>&1 | ids; }
printf 'k,n\na,1\nb,2\na,5\n' > t.csv
call --table t=t.csv -c 'df = tables["t"]; df'
call -c 'total = df.groupby("k").n.sum(); total'
call -c 'total["c"]' | tail -1
call -c 'print(total.a)'
call -c 'import matplotlib.pyplot as plt; total.plot.bar()' -o out
call -c 'total.plot.line(); open("note.txt", "w").write("two")' -o out
echo '# only what the call wrote comes back; a later table stays beside the first'
printf 'k,m\nb,7\n' > u.csv
call --table u=u.csv --file note=t.csv -c 'open("/in/note").readline(), sorted(tables), open("note.txt").read()' -o out
call -c 'import sys; sys.argv, __name__' -- one two
ls out
dtx session list | grep "$s" | ids | tr -s " "
dtx session show $s | tail -n +2 | sed -n '1p;3p' | ids
echo '# the calls of a figure'
dtx provenance out/figure-2.png | sed -n '/^how/,/^$/p' | sed '/^disclosed/,$d' | ids
dtx provenance out/figure-2.png --json | /usr/bin/python3 -c 'import json, sys
s = json.load(sys.stdin)["session"]; print(s["call"], [(c["call"], c["status"]) for c in s["calls"]])'
dtx replay out/figure-2.png | ids
echo '# another store, a changed input'
call --store other.db -c 1 | sed "s|'/.*||"
echo 'k,n' > t.csv
dtx replay 2>&1 | tail -2
dtx session stop $s
dtx session stop $s 2>&1 | ids
echo '# limits: what is lost is said'
call -c 'x = 1'
call --jail-wall 1 -c 'import time; time.sleep(9)'
call -c 'x' 2>&1 | tail -2
dtx exec --session $s --json --jail-wall 1 -c 'import time; time.sleep(9)' | /usr/bin/python3 -c 'import json, sys
print({k: v for k, v in json.load(sys.stdin)["session"].items() if k in ("call", "new", "ended")})'
echo '# mistakes'
call --no-warm -c 1
dtx exec --no-wait -c 1 || echo $?
dtx exec --session a/b -c 1 || echo $?
DTX_NO_WARM=1 dtx exec --session $s -c 1 2>&1 | ids
DTX_JAIL=exec:cat dtx exec --session $s -c 1 2>&1 | ids
dtx session show || echo $?
dtx session list | grep -c "$s" || :

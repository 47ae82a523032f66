# what a limit lets through decides which rejects there are, however rows come; other counts before it are no totals
. "$LIB"
awk 'BEGIN { print "k,n"; for (i = 0; i < 5000; i++) print i % 50 == 7 ? "short" : i "," (i % 9 ? i % 10 : i % 5 ? "" : "bad") }' > in.csv
run() { # run STEPS
	printf '{"dtx":1,"inputs":[{"name":"main","ragged":"quarantine","types":[{"name":"n","type":"int","on_error":"null"}]}],"steps":[%s]}' "$1" > plan.json
	for threads in 1 2 8; do
		for rows in 1 7 1000 65536; do
			rm -f out.csv out.csv.rejects.csv
			dtx run -q --fallback off plan.json in.csv --threads $threads --batch-rows $rows --record r.json -o out.csv 2> /dev/null
			tail -n 1 out.csv
			wc -l < out.csv.rejects.csv
			tail -n 1 out.csv.rejects.csv
			/usr/bin/python3 -c '
import json
r = json.load(open("r.json"))
print([(w["code"], w.get("at"), w["count"] if not w.get("at_least") else "at least") for w in r["run"]["warnings"]])
print(r["inputs"][0]["rows"], r["inputs"][0]["reader"]["ledger"].get("stopped_early"))
print([(s["op"], s["detail"].get("stopped_early") or (s["rows_in"], s["rows_out"])) for s in r["steps"]])' > said
			tr '\n' ' ' < said
			echo "; $(wc -l < out.csv) lines"
		done
	done | sort | uniq -c | sed 's/^ *//'
	echo
}
run '{"op":"filter","where":"n > 2"},{"op":"derive","set":{"q":"10 / (n - 3)"}},{"op":"limit","n":500},{"op":"filter","where":"q > 2"}'
run '{"op":"limit","n":500,"offset":100}'
run '{"op":"limit","n":0}'
run '{"op":"limit","n":5000}'

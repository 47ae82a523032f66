. "$LIB"
# parameters of a plan: typed, checked, in formulas and paths, in the record and in replay
cat > plan.json <<'EOF'
{"dtx": 1,
 "params": {"month": {"type": "date", "default": "2026-01-01", "help": "first day of the month"},
            "n": {"type": "int", "default": 5}, "rate": {"type": "decimal", "default": "-1.50"},
            "who": {"type": "text"}, "col": {"type": "text", "default": "day"}},
 "inputs": [{"name": "main", "path": "in_${who}.csv"}],
 "steps": [{"op": "filter", "where": "day >= $month and name != $who and name != '$ who'"},
           {"op": "derive", "set": {"m": "$month", "k": "$n * 2", "r": "2 * $rate", "w": "$who"}},
           {"op": "sort", "by": ["-$col"]},
           {"op": "limit", "n": "$n"}],
 "expect": {"columns": [{"name": "day", "min": "$month"}], "rules": [{"rule": "expression", "expr": "day >= $month"}]},
 "output": {"path": "out_$month.csv"}}
EOF
printf "day,name\n2026-01-05,ann\n2026-02-07,o'neil\n2026-03-01,bob\n2025-01-01,x\n" > "in_o'neil.csv"
cp "in_o'neil.csv" in_ann.csv
bad() { echo "== $*" >&2; dtx "$@" || echo "exit $?: $*"; }
dtx run plan.json --param who=ann; cat out_2026-01-01.csv
dtx run plan.json --param who="o'neil" --param month=2026-02-01 --param n=1 && cat out_2026-02-01.csv
dtx provenance out_2026-02-01.csv | grep -E '^with|^how'
dtx replay out_2026-02-01.csv | tail -1 | plain
dtx why out_2026-02-01.csv --row 1 --col name | head -3 | plain
echo '{"who": "ann", "n": 1, "month": "2026-03-01"}' > values.json
dtx run plan.json --params values.json --param n=2 -o -
# what a formula becomes, and the ids: another value is another plan
dtx check plan.json --param who=ann --canonical | grep -o '"where":"[^"]*"'
for n in 1 1 2; do dtx check plan.json --param who=ann --param n=$n --id; done | uniq -c | awk '{print $1}'
dtx explain plan.json --param who=ann | grep -c filter
dtx compile plan.json --to pandas --param who=ann | grep -c "2026-01-01"
# a step that only a snippet can do sees the values, and only they are in its key
cat > sn.json <<'EOF'
{"dtx": 1, "params": {"a": {"type": "int", "default": 1}, "b": {"type": "int", "default": 1}},
 "steps": [{"op": "limit", "n": "$b"}, {"op": "do_something", "add": "$a", "note": "$a"}]}
EOF
for words in '' '--param b=2' '--param a=7'; do dtx prompt sn.json in_ann.csv $words | grep -o '"add": *[0-9]*' | head -1; done
# what is refused
bad run plan.json
bad run plan.json --param whoo=x --param who=ann
bad run plan.json --param who=ann --param n=many
bad run plan.json --param who=ann --param month=2026-02-30
bad run plan.json --param who=ann --param rate=1e3
bad run plan.json --param who
bad run plan.json --params missing.json
echo '[1]' > list.json
bad check plan.json --params list.json
sed "s/name != \$who/name != '\$who'/" plan.json > quoted.json
bad check quoted.json --param who=ann
sed 's/day >= $month and/day >= $month and and/' plan.json > broken.json
bad check broken.json --param who=ann --param month=2026-01-31
sed 's/name != $who and/nam != $who and/' plan.json > column.json
bad run column.json --param who=ann
bad check plan.json --param who=ann --param n=0x10
for params in '{"x": {"type": "money"}}' '{"x": 1}' '{"a b": {"type": "int"}}' '[]' '{"x": {"default": 1}}'; do
	echo "{\"dtx\": 1, \"params\": $params, \"steps\": [{\"op\": \"limit\", \"n\": 1}]}" > p.json
	bad check p.json
done
# without "params" a dollar sign is only that
echo '{"$schema": "x", "dtx": 1, "steps": [{"op": "derive", "set": {"$a": "'"'\$who'"'"}}, {"op": "limit", "n": 1}]}' > plain.json
dtx run plain.json in_ann.csv
bad run plain.json in_ann.csv --param who=ann
# a decimal may be a number of JSON, too
echo '{"dtx": 1, "params": {"r": {"type": "decimal", "default": -1.5}}, "steps": [{"op": "derive", "set": {"x": "2 * $r"}}, {"op": "limit", "n": 1}]}' > decimal.json
dtx run -q decimal.json in_ann.csv

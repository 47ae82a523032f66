. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/'; }
cat > w.json <<'E2'
{"dtx": 1, "steps": [
 {"op": "window", "by": ["k"], "order": ["t"], "set": [{"as": "run", "expr": "cum_sum(v)"}, {"as": "prev", "expr": "lag(v)"},
  {"as": "sh", "expr": "share(v)"}, {"as": "d", "expr": "v - lag(v)"}]},
 {"op": "filter", "where": "run > 3"}, {"op": "derive", "set": {"cc": "cum_sum(v)", "dbl": "run * 2 - 1"}},
 {"op": "rolling", "cols": ["v"], "n": 2, "suffix": "_r2"}, {"op": "rank", "expr": "v", "as": "rk"}]}
E2
printf 'k,t,v\na,1,1\na,2,2\nb,1,9\na,3,4\nb,2,3\na,4,1\n' > w.csv
dtx run w.json w.csv -o wo.csv
cat wo.csv
for c in run prev sh d cc dbl v_r2 rk v; do dtx why wo.csv --key k=b --key t=2 --col $c | id | grep -v 'FILTER)\|WINDOW)'; done
dtx why wo.csv --key k=a --col v || echo "exit $?"
dtx why wo.csv --key k=z --col v || echo "exit $?"
dtx why wo.csv --key k --col v || echo "exit $?"
dtx why wo.csv --key k=b --row 1 --col v || echo "exit $?"
dtx why wo.csv --key nix=b --col v || echo "exit $?"
echo "== of rows that are alike, that which was asked for; from the file and without it"
cat > s.json <<'E2'
{"dtx": 1, "steps": [{"op": "select", "cols": ["k", "v"]}, {"op": "window", "by": ["k"], "set": {"s": "sum(v)"}},
 {"op": "sort", "by": ["v"]}]}
E2
cat > t.json <<'E2'
{"dtx": 1, "steps": [{"op": "select", "cols": ["k", "v"]}, {"op": "top", "n": 3, "expr": "v", "by": ["k"], "ties": "all"}]}
E2
printf 'k,t,v\na,1,2\nb,2,2\na,3,2\na,4,1\nb,5,2\na,6,2\nb,7,1\n' > s.csv
for p in s t; do
  dtx run $p.json s.csv -o so.csv
  for row in 1 2 3 4 5 6; do dtx why so.csv --row $row --col v >> short.txt; done
  run=$(dtx provenance so.csv | sed -nE "s#^run *([0-9a-f]{8}).*#\1#p")
  mv so.csv away.csv
  for row in 1 2 3 4 5 6; do dtx why "$run" --row $row --col v >> long.txt; done
done
# the lines of the result are not known without its file
sed -i "s/so.csv!L\([0-9]*\)!v/so.csv \1/" short.txt
sed -i "s/so.csv row \([0-9]*\), v/so.csv \1/" long.txt
awk '/^so.csv/ { $2++ } { print }' long.txt > lines.txt
diff -w short.txt lines.txt > /dev/null && grep -c '^cells' short.txt && grep '^cells' short.txt | sort | uniq -c
echo "== where the columns come from data too, no column but the made one looks at other rows"
cat > o.json <<'E2'
{"dtx": 1, "steps": [{"op": "drop_rows", "where": "v is null", "kinds": []}, {"op": "window", "by": ["k"], "order": ["t"],
 "set": {"s": "cum_sum(v)"}}, {"op": "derive", "set": {"n": "abs(v)"}}, {"op": "rolling", "cols": ["n"], "n": 2},
 {"op": "lag_lead", "col": "v", "as": "before"}]}
E2
dtx run o.json s.csv -o oo.csv
for c in s v n n_roll before; do dtx why oo.csv --row 5 --col $c | grep -E '^(oo|cells)' | id; done
echo "== behind a step that may take any column for its own, a lag leaves the row itself out of nothing"
printf 'id,v,t\n1,5,m;n\n2,6,o;p\n3,7,q;r\n' > l.csv
for step in '"op": "split_column", "col": "t", "sep": ";", "into": ["x", "y"]' '"op": "explode", "cols": ["t"], "sep": ";"'; do
	echo "[{\"op\": \"lag_lead\", \"col\": \"v\", \"as\": \"before\"}, {$step}]" > l.json
	dtx run l.json l.csv -o lo.csv -q
	for c in v before; do dtx why lo.csv --row 3 --col $c | grep -E '^(lo|formula|cells)' | id; done
done

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
for c in run prev sh d cc dbl v_r2 rk v; do dtx why wo.csv --key k=b --key t=2 --col $c | id | grep -v FILTER; done
dtx why wo.csv --key k=a --col v || echo "exit $?"
dtx why wo.csv --key k=z --col v || echo "exit $?"
dtx why wo.csv --key k --col v || echo "exit $?"
dtx why wo.csv --key k=b --row 1 --col v || echo "exit $?"
dtx why wo.csv --key nix=b --col v || echo "exit $?"

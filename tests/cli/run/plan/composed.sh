. "$LIB"
# operations that are compositions of others, completed from the columns: one step for the user
cat > in.csv <<'E'
day,k,$n
2024-01-31,b,1
2024-02-01,a,2
,b,9
2024-02-28,b,4
E
id() { sed -E 's/run [0-9a-f]{8}/run ID/'; }
sample() { echo '{"op": "resample", "col": "day", "every": "1mo", "by": ["k"], "agg": {"s": "sum(`$n`)", "rows": "count()"}}'; }
describe='{"op": "describe", "cols": ["$n", "k"]}'
plan() { echo "{\"dtx\": 1, \"params\": {\"n\": {\"type\": \"text\", \"default\": \"other\"}}, \"inputs\": [{\"name\": \"main\"}], \"steps\": [$1]}" > p.json; }
steps() { echo "{\"dtx\": 1, \"inputs\": [{\"name\": \"main\"}], \"steps\": [$1]}" > p.json; }
# the source rows of a bucket, and what became of a row without a time
steps "$(sample)"
dtx run p.json in.csv -o o.csv -q && cat o.csv
dtx why o.csv --row 2 --col s | id
dtx why-not o.csv --input main --row 3 | id
dtx explain p.json in.csv | sed -n '/^1 /,$p'
# a column whose name looks like a parameter of the plan
plan '{"op": "describe"}'
dtx run p.json in.csv -q
steps "$describe"
dtx run p.json in.csv -o o.csv -q && dtx why o.csv --row 1 --col max | id
# places of mistakes are those of the step as written
bad() { steps "$1"; dtx run p.json in.csv -o bad.csv --fallback off || echo "exit $?"; }
bad '{"op": "resample", "col": "day", "every": "1 day", "agg": {"n": "count()"}}'
bad '{"op": "resample", "col": "k", "every": "1d", "agg": {"s": "count()"}}'
bad '{"op": "resample", "col": "day", "every": "1d", "agg": {"n": "count()", "s": "sum(k)"}}'
bad '{"op": "describe", "by": ["kk"]}'
bad "$describe, {\"op\": \"select\", \"cols\": [\"maximum\"]}"
bad '{"op": "describe", "by": ["k"], "cols": ["k"]}'
# a table of counts has its input four times: each cell, total and key has its own source rows
printf 'k,q,v\nb,y,1.50\na,x,2\nb,y,3\nb,x,\n' > met.csv
table() { steps "{\"op\": \"crosstab\", \"rows\": \"$1\", \"cols\": \"q\", \"value\": \"v\", \"agg\": \"sum\"$2}"; dtx run p.json met.csv -o o.csv -q && cat o.csv; }
table k ', "margins": true'
dtx why o.csv --row 1 --col y | id
dtx why o.csv --row 3 --col x | id
dtx why o.csv --row 3 --col Total | id
dtx explain p.json met.csv | sed -n '/^1 /p'
table v ', "margins": true, "normalize": "cols"'
table k ', "normalize": "all"'
dtx why o.csv --row 2 --col x | id | head -4
printf 'k,q,v\n' > met.csv
table k ', "margins": true'
# rows of other groups have no part in a scale
printf 'k,v\na,1\nb,5\na,3\n' > scaled.csv
steps '{"op": "normalize", "cols": ["v"], "by": ["k"]}'
dtx run p.json scaled.csv -o o.csv -q && dtx why o.csv --row 1 --col v | id

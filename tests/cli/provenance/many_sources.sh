. "$LIB"
# Nothing is left out of an answer without a word: not of the sources of a column, not of the rows of a result.
needs_python() { python3 -c '' 2> /dev/null || skip "python3 is not installed"; }
count() { python3 -c "
import collections, json, sys
rows = [r for r in json.load(sys.stdin)['lineage'] if r['type'] == 'DIRECT']
for column, n in collections.Counter(r['out_col'] for r in rows).items():
    print(column, n, sum(r['in_col'] is None for r in rows if r['out_col'] == column))"; }
needs_python
n=21000
{ seq -s , -f 'c%.0f' $n; seq -s , $n; } > wide.csv
longer='{"op": "pivot_longer", "cols": {"regex": "^c"}, "names_to": "k", "values_to": "v"}'
plan() { echo "{\"dtx\": 1, \"limits\": {\"cols\": 30000}, \"steps\": [$1]}"; }
echo "== every source of a column is recorded"
plan "$longer" > longer.json
dtx run longer.json wide.csv -o long.csv
dtx provenance long.csv --json --full | count
echo "== more than a record has room for are said to be left out"
derived='"a": "v", "b": "v + 1", "c": "v + 2", "d": "v + 3"'
plan "$longer, {\"op\": \"derive\", \"set\": {$derived}}" > derived.json
dtx run derived.json wide.csv -o derived.csv
dtx provenance derived.csv --json --full | count
echo "== every row of a result that a row went into"
{ echo k,n; seq -f 'a,%.0f' 1500; } > many.csv
printf 'k,v\nb,0\na,7\n' > one.csv
echo '{"dtx": 1, "inputs": [{"name": "main"}, {"name": "one"}], "steps": [{"op": "join", "with": "one", "on": ["k"]}]}' > join.json
dtx run join.json many.csv one=one.csv -o joined.csv -q
dtx why-not joined.csv 'one.csv!L3' | sed 's/run .*/run ID/'
dtx why-not joined.csv 'one.csv!L3' --json | python3 -c "
import json, sys
rows = json.load(sys.stdin)['rows']
print(len(rows), min(rows), max(rows))"
echo "== names of columns that an error leaves out"
echo '[{"op": "select", "cols": ["cc"]}]' > select.json
dtx check select.json wide.csv --errors json 2>&1 | python3 -c "
import json, sys
one = json.loads(sys.stdin.readline())
print(one['code'], len(one['available']), one['available_left_out'])"

. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/' | grep -v FILTER; }
plan() { echo "{\"dtx\": 1, \"inputs\": [{\"name\": \"main\"}], \"steps\": [$1]}" > p.json; }
why() { dtx run p.json in.csv -o o.csv -q && dtx why o.csv --row "$1" --col "$2" | id; }
printf 'id,a,v\n1,x,5\n2,,6\n3,,\n4,y,9\n' > in.csv
# a value that is of other rows, whatever its column was called before
plan '{"op": "rename", "map": [{"from": "a", "to": "b"}]}, {"op": "fill", "cols": ["b"]}'
why 2 b
plan '{"op": "derive", "set": {"b": "upper(a)"}}, {"op": "fill", "cols": ["b"]}'
why 2 b
plan '{"op": "fill_null", "cols": ["v"], "strategy": "mean"}, {"op": "sort", "by": ["-id"]}'
why 2 v
plan '{"op": "bin", "col": "v", "as": "b", "n": 2}'
why 2 b
# the other columns are
why 2 v
plan '{"op": "fill_null", "cols": ["v"], "strategy": "mean"}, {"op": "cast", "types": {"id": "text"}}'
why 2 a
# values are put into an aggregate only when it saw them so
group='{"op": "group_by", "by": ["k"], "agg": {"s": "sum(v)"}}'
plan "{\"op\": \"derive\", \"set\": {\"k\": \"1\"}}, $group"
why 1 s
plan "{\"op\": \"derive\", \"set\": {\"k\": \"1\", \"v\": \"v * 2\"}}, $group"
why 1 s
plan "{\"op\": \"fill_null\", \"cols\": [\"v\"], \"value\": 100}, {\"op\": \"derive\", \"set\": {\"k\": \"1\"}}, $group"
why 1 s
plan "{\"op\": \"derive\", \"set\": {\"k\": \"1\"}},
 {\"op\": \"group_by\", \"by\": [\"k\", \"a\"], \"agg\": {\"v\": \"max(v)\"}}, $group"
why 1 s

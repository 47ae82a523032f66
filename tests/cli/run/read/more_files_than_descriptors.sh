. "$LIB"
# An input is as many files as its pattern finds: more than the descriptors that the process may have.
mkdir small large
awk 'BEGIN { for (i = 1; i <= 1000; i++) { f = sprintf("small/%04d.csv", i); printf "k,v\n%d,%d\n", i % 3, i > f; close(f) } }'
awk 'BEGIN { for (i = 1; i <= 80; i++) { f = sprintf("large/%02d.csv", i); print "k,v" > f; for (j = 0; j < 3000; j++) printf "%d,%d\n", i % 2, j > f; close(f) } }'
plan() {
	printf '{"dtx": 1, "inputs": [{"name": "main", "path": "%s/*.csv", "source_file": "file"}], "steps": [' $1
	printf '{"op": "group_by", "by": ["k"], "agg": {"s": "sum(v)", "files": "count_distinct(file)", "last": "max(file)"}},'
	printf '{"op": "sort", "by": ["k"]}]}'
}
plan small > small.json
plan large > large.json
ulimit -n 64
dtx run small.json -q
dtx run large.json -q -o large_sums.csv && cat large_sums.csv
dtx check small.json > /dev/null && echo checked
dtx explain small.json > /dev/null && echo explained
dtx replay large_sums.csv | tail -1 | cut -c 1-9

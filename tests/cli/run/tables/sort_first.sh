# a sort before a limit keeps the rows that the limit wants, unless another step wants them too
. "$LIB"
awk 'BEGIN { print "k,v"; for (i = 0; i < 100000; i++) print i % 7 "," (i * 7919) % 100003 }' > in.csv
steps() {
	echo "{\"dtx\":1,\"steps\":[$1]}" > plan.json
	dtx explain --analyze plan.json in.csv | sed -n 's/.* MB, \(.* not_wanted\)/\1/p; /^pipeline 2/p' |
		sort -u
	for threads in 1 2 8; do
		dtx run -q plan.json in.csv -o - --threads $threads --batch-rows ${threads}00
	done | sort | uniq -c | sed 's/^ *//'
}
sort='{"op":"sort","by":["-v","k"]}'
steps "$sort"',{"op":"limit","n":2,"offset":1}'
steps "$sort"',{"op":"derive","set":{"w":"v * 2"}},{"op":"limit","n":2}'
steps "$sort"',{"op":"filter","where":"k = 3"},{"op":"limit","n":2}'
steps '{"op":"sort","by":["-v","k"],"limit":3},{"op":"limit","n":2}'
# a promise about its result is about all rows
steps '{"op":"sort","by":["-v","k"],"expect":{"rows":{"equals":100000}}},{"op":"limit","n":2}'
# two steps read it
cat > plan.json <<P
{"dtx":1,"steps":[{"op":"sort","by":["-v","k"],"out":"all"},{"op":"limit","in":"all","n":1,"out":"first"},
 {"op":"group_by","in":"all","by":[],"agg":{"n":"count()"},"out":"counted"},
 {"op":"join","in":"first","with":"counted","how":"cross"}]}
P
dtx run -q plan.json in.csv -o -

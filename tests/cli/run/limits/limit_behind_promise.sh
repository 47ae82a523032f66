# a limit behind a join that promises something about its rows: all are looked at, in batches of any size
. "$LIB"
printf 'k,v\n1,a\n2,b\n3,c\n4,d\n4,e\n' > in.csv
printf 'k,w\n1,x\n2,y\n3,z\n' > other.csv
try() {
	echo "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"other\"}],\"steps\":[{\"op\":\"sort\",\"by\":\"k\"},$1,{\"op\":\"limit\",\"n\":1}]}" > plan.json
	for rows in 1 2 1000; do
		for threads in 1 2; do
			status=0
			"$DTX" run -q --fallback off plan.json in.csv other=other.csv --batch-rows $rows --threads $threads > out 2> err ||
				status=$?
			echo "exit $status: $(head -1 err)$(tail -1 out)"
		done
	done | sort | uniq -c | sed 's/^ *//'
}
try '{"op":"join","with":"other","on":"k","how":"left","cardinality":"1:m"}'
try '{"op":"join","with":"other","on":"k","how":"left","match":"all_left"}'
try '{"op":"join","with":"other","on":"k","how":"left"}'

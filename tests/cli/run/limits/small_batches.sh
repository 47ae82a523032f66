# time grows with the rows, not with rows times batches: the squares of these would take minutes
. "$LIB"
awk 'BEGIN { print "k,a"; for (i = 0; i < 20000; i++) print (i * 7919) % 20000 "," i }' > left.csv
awk 'BEGIN { print "k,b"; for (i = 0; i < 20000; i++) print (i * 104729) % 20000 "," i }' > right.csv
ulimit -t 15
run() { # run STEP
	printf '{"dtx":1,"inputs":[{"name":"main"},{"name":"right"}],"steps":[%s]}' "$1" > plan.json
	dtx run -q --fallback off plan.json left.csv right=right.csv -o all.csv
	dtx run -q --fallback off plan.json left.csv right=right.csv -o one.csv --batch-rows 1 --threads 1
	cmp all.csv one.csv && wc -l < one.csv
}
run '{"op":"join","with":"right","on":"k"}'
run '{"op":"join","with":"right","on":"k","how":"full"},{"op":"distinct","cols":["k"],"keep":"last"},{"op":"drop","cols":["b"]}'
run '{"op":"sort","by":"-k"},{"op":"union","with":"right"}'

# a cell that does not fit is at the type that the input declares, in every format, whatever steps do to the column
. "$LIB"
printf 'a/b,c~d\n1,2\nx,y\n' > in.csv
printf '[{"a/b":1,"c~d":2},{"a/b":"x","c~d":"y"}]' > in.json
printf '{"a/b":1,"c~d":2}\n{"a/b":"x","c~d":"y"}\n' > in.jsonl
dtx convert in.csv -o in.xlsx -q
run() { # run TYPES FILE
	printf '{"dtx":1,"inputs":[{"name":"other","types":{"a":"int"}},{"name":"main","types":%s}],"steps":[%s]}' \
		"$1" '{"op":"rename","in":"main","map":{"a/b":"A","c~d":"C"}},{"op":"limit","n":10}' > plan.json
	printf 'a\n1\n' > other.csv
	s=0; dtx run -q --fallback off plan.json other=other.csv main="$2" 2>&1 || s=$?
	echo "exit $s"
}
for file in in.csv in.json in.jsonl in.xlsx; do
	run '{"a/b":"int"}' $file
	run '[{"name":"a/b","type":"text"},{"name":"c~d","type":"date"}]' $file
done
# a plan with one input, one type and no list of either
printf '{"dtx":1,"inputs":{"name":"main","types":{"name":"a/b","type":"int"}},"steps":[{"op":"limit","n":10}]}' > plan.json
for rows in 1 1000; do
	dtx run -q --fallback off --batch-rows $rows plan.json in.csv || echo "exit $?"
	dtx run -q --fallback off --batch-rows $rows plan.json - < in.jsonl || echo "exit $?"
done

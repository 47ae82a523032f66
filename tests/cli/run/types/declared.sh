# declared types hold for every cell of the result, also one that is only moved, and for no other
. "$LIB"
printf 'a,b\nx,2\n5,3\n' > in.csv
run() { # run STEPS OPTION...
	printf '{"dtx":1,"inputs":[{"name":"main","types":[{"name":"a","type":"int"}]}],"steps":[%s]}' "$1" > plan.json
	shift
	s=0; dtx run -q --fallback off plan.json in.csv "$@" 2>&1 || s=$?
	[ ! -e out.json ] || { cat out.json; rm out.json; }
	echo "exit $s"
}
run '{"op":"select","cols":"*"}'
run '{"op":"select","cols":"*"}' -o out.json
run '{"op":"select","cols":["b"]}'
for rows in 1 2 1000; do
	run '{"op":"filter","where":"b > 2"}' --batch-rows $rows
	run '{"op":"filter","where":"b > 2"},{"op":"derive","set":{"c":"a + 1"}}' --batch-rows $rows -o out.json
done
# the row is gone on one way and there on the other
run '{"op":"filter","where":"b > 2","out":"big"},{"op":"derive","in":"big","set":{"c":"a + 1"},"out":"one"},{"op":"union","in":"one","with":"main"}'
printf 'b,a\n2,\n3,5\n' > in.csv
run '{"op":"filter","where":"b > 2"},{"op":"derive","set":{"c":"a + 1"}}'

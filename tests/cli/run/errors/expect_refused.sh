. "$LIB"
# what a rule says is checked or refused, never skipped
printf 'k,n\na,1\nb,x\n' > in.csv
try() {
	echo "{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"n\":9}],\"expect\":$1}" > plan.json
	dtx run plan.json in.csv -o out.csv || echo "exit $?"
}
try '{"rules":"unique"}'
try '{"rules":{"rule":"row_count","min":9}}'
try '{"rules":[{"rule":"row_count","min":9,"max_failures":1}]}'
try '{"rules":[{"rule":"not_null","cols":"k","sample":300}]}'
try '{"rules":[{"rule":"sum_equals","col":"n","value":0}]}'
echo '{"dtx":1,"steps":[{"op":"limit","n":1,"out":"t"},{"op":"frob","expect":{"rows":{"equals":"t"}}}]}' > plan.json
dtx check plan.json || echo "exit $?"

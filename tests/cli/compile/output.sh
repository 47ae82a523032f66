. "$LIB"
# the table that the plan writes, not the last one made
try() {
	echo '{"dtx":1,"inputs":[{"name":"main","types":[{"name":"n","type":"int"}]}],"steps":[{"op":"filter","where":"n > 1","out":"big"},{"op":"filter","where":"n < 0"}],"output":'"$1"'}' > plan.json
	dtx compile plan.json --to sql > sql.txt && tail -n 1 sql.txt
	dtx compile plan.json --to snippet > pandas.txt && tail -n 1 pandas.txt
}
try '{"table":"big"}'
try '[{"table":"big"},{"path":"rest.csv"}]' || echo "exit $?"

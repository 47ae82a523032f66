. "$LIB"
# an op that is a composition of core ops is one step to the user
printf 'k,v\nb,1\na,2\nb,3\n' > t.csv
plan() {
	echo '{"dtx":1,"inputs":[{"name":"main","path":"t.csv"}],"steps":['"$1"'],"output":{"path":"out.csv"}}' > plan.json
}
plan '{"op":"filter","where":"v > 0"},{"op":"value_counts","column":"k","n":2,"out":"n"},{"op":"filter","in":"n","where":"count > 1"}'
dtx explain plan.json --analyze --threads 1 | grep -E '^[0-9]+ (filter|freq)|^  [0-9]+ rows' | sed 's/, [0-9.]* MB//' | plain
dtx run plan.json
cat out.csv
dtx provenance out.csv | grep '^rows'
dtx explain plan.json --json | tr -d ' \n' | grep -o '"may_fall_back":\[[^]]*\]' | sort -u
dtx why out.csv --row 1 --col count | tail -n +2 | plain
dtx compile plan.json --to pandas | grep '# step'
echo "-- the step as written has the errors"
plan '{"op":"value_counts","column":"kk"}'
dtx run plan.json 2>&1 | grep -v 'let a snippet'
plan '{"op":"freq","cols":["share"]}'
dtx check plan.json || echo "exit $?"
echo "-- and is what a snippet is asked for"
plan '{"op":"freq","cols":["k","gone"],"note":"how many of each"}'
dtx run plan.json 2> err || echo "exit $?"
dtx prompt "$(sed -n 's/.*dtx prompt \([0-9a-f]*\).*/\1/p' err)" | grep -F '"freq"'

. "$LIB"
# a line end in a name or a formula does not begin a new line of an error
echo 'a,b
1,2' > in.csv
plan() {
	printf "%s\n" "{\"dtx\": 1, \"steps\": [{\"op\": \"rename\", \"map\": {\"a\": \"x\ndtx: all is well\"}}, $1]}" > plan.json
	dtx check plan.json in.csv || echo "exit $?"
}
plan '{"op": "drop", "cols": ["c\nd"]}'
plan '{"op": "union", "with": ["c\nd"]}'
plan '{"op": "limit", "c\nd": 1}'
plan '{"op": "derive", "set": {"c": "b +\n  1 +\n  d"}}'

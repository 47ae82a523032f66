# a value that fails counts if the limit behind it wants its row, whatever the batches and threads
. "$LIB"
awk 'BEGIN { print "x,s"; for (i = 0; i < 4000; i++) print i "," (i == 3000 ? "bad" : i) }' > in.csv
each() {
	for rows in 1 7 1000 65536; do
		for threads in 1 2 8; do
			dtx run -q plan.json ${src:-in.csv} -o out.csv --batch-rows $rows --threads $threads \
				> /dev/null 2>&1 && cat out.csv || echo "exit $?"
		done
	done | sort | uniq -c | sed 's/^ *//'
}
try() {
	echo "$1" > plan.json
	echo "$1"
	each
}
for n in 2 3; do
	try '[{"op":"filter","where":"int(s) >= 2998"},{"op":"limit","n":'$n'}]'
	try '[{"op":"derive","set":{"z":"int(s)"}},{"op":"filter","where":"z >= 2998"},{"op":"derive","set":{"q":"z + 1"}},{"op":"limit","n":'$n'}]'
	try '[{"op":"sort","by":["x"]},{"op":"filter","where":"int(s) >= 2998"},{"op":"limit","n":'$n'}]'
	try '[{"op":"derive","set":{"n":"row_number()"}},{"op":"derive","set":{"z":"int(s) + n"}},{"op":"filter","where":"x >= 2998"},{"op":"limit","n":'$n'}]'
	try '{"dtx":1,"inputs":[{"name":"main","types":{"s":"int"}}],"steps":[{"op":"filter","where":"s >= 2998"},{"op":"limit","n":'$n'}]}'
done
# the reader of JSON casts declared columns itself
awk 'BEGIN { for (i = 0; i < 4000; i++) printf "{\"x\":%d,\"s\":\"%s\"}\n", i, i == 3000 ? "bad" : i }' > in.jsonl
for n in 2 3; do
	src=in.jsonl try '{"dtx":1,"inputs":[{"name":"main","types":{"s":"int"}}],"steps":[{"op":"filter","where":"x >= 2998"},{"op":"limit","n":'$n'}]}'
	src=in.jsonl try '{"dtx":1,"inputs":[{"name":"main","types":{"s":"int"}}],"steps":[{"op":"filter","where":"s >= 2998"},{"op":"limit","n":'$n'}]}'
done
try '[{"op":"limit","n":2},{"op":"derive","set":{"z":"int(s)"}}]'
# a step that judges every row: there the limit stops nothing
try '[{"op":"assert","rules":[{"rule":"range","col":"x","min":0}]},{"op":"filter","where":"int(s) >= 2998"},{"op":"limit","n":2}]'
# so does a row that its reader refuses: the batch before it ends there
awk 'BEGIN { print "x,s"; for (i = 0; i < 4000; i++) print i == 3000 ? i : i "," i }' > ragged.csv
sed 's/^3000$/3000,"open/' ragged.csv > quote.csv
src=quote.csv try '[{"op":"filter","where":"x >= 2998"},{"op":"limit","n":2}]'
for n in 2 3; do
	src=ragged.csv try '[{"op":"filter","where":"x >= 2998"},{"op":"limit","n":'$n'}]'
done

# a value that fails counts if the limit behind it wants its row, whatever the batches and threads
. "$LIB"
awk 'BEGIN { print "x,s"; for (i = 0; i < 2000; i++) print i "," (i == 1500 ? "bad" : i) }' > in.csv
for n in 2 3; do
	at_every_size '[{"op":"filter","where":"int(s) >= 1498"},{"op":"limit","n":'$n'}]'
	at_every_size '[{"op":"derive","set":{"z":"int(s)"}},{"op":"filter","where":"z >= 1498"},{"op":"derive","set":{"q":"z + 1"}},{"op":"limit","n":'$n'}]'
	at_every_size '[{"op":"sort","by":["x"]},{"op":"filter","where":"int(s) >= 1498"},{"op":"limit","n":'$n'}]'
	at_every_size '[{"op":"derive","set":{"n":"row_number()"}},{"op":"derive","set":{"z":"int(s) + n"}},{"op":"filter","where":"x >= 1498"},{"op":"limit","n":'$n'}]'
	at_every_size '{"dtx":1,"inputs":[{"name":"main","types":{"s":"int"}}],"steps":[{"op":"filter","where":"s >= 1498"},{"op":"limit","n":'$n'}]}'
done
# the reader of JSON casts declared columns itself
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "{\"x\":%d,\"s\":\"%s\"}\n", i, i == 1500 ? "bad" : i }' > in.jsonl
for n in 2 3; do
	src=in.jsonl at_every_size '{"dtx":1,"inputs":[{"name":"main","types":{"s":"int"}}],"steps":[{"op":"filter","where":"x >= 1498"},{"op":"limit","n":'$n'}]}'
	src=in.jsonl at_every_size '{"dtx":1,"inputs":[{"name":"main","types":{"s":"int"}}],"steps":[{"op":"filter","where":"s >= 1498"},{"op":"limit","n":'$n'}]}'
done
at_every_size '[{"op":"limit","n":2},{"op":"derive","set":{"z":"int(s)"}}]'
# a step that judges every row: there the limit stops nothing
at_every_size '[{"op":"assert","rules":[{"rule":"range","col":"x","min":0}]},{"op":"filter","where":"int(s) >= 1498"},{"op":"limit","n":2}]'
# so does a row that its reader refuses: the batch before it ends there
awk 'BEGIN { print "x,s"; for (i = 0; i < 2000; i++) print i == 1500 ? i : i "," i }' > ragged.csv
sed 's/^1500$/1500,"open/' ragged.csv > quote.csv
src=quote.csv at_every_size '[{"op":"filter","where":"x >= 1498"},{"op":"limit","n":2}]'
for n in 2 3; do
	src=ragged.csv at_every_size '[{"op":"filter","where":"x >= 1498"},{"op":"limit","n":'$n'}]'
done

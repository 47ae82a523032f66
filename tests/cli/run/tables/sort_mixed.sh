. "$LIB"
# rows of one sort whose texts lie in files of other rules: what is kept of them in memory differs
awk 'BEGIN { print "id,name,note,v"; for (i = 0; i < 3000; i++) printf "%d,\"n%d\",%s,%d\n", i * 7919 % 3000, i % 7, (i % 5 ? "x" i : ""), i % 11 }' > comma.csv
awk 'BEGIN { print "id;name;note;v"; for (i = 0; i < 2000; i++) printf "%d;\"n;%d\";y \"\"%d;%d\n", i * 104729 % 2000, i % 7, i, i % 11 }' | sed 's/y ""/y /' > semicolon.csv
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "{\"id\":%d,\"name\":\"j%d\",\"note\":null,\"v\":%d}\n", i * 31 % 1000, i % 7, i % 11 }' > lines.jsonl
awk 'BEGIN { print "id,name,note,v"; for (i = 0; i < 3000; i++) { printf "%d,n%d,", i, i % 7; if (i % 500 == 499) for (k = 0; k < 200; k++) printf "long "; printf ",%d\n", i % 11 } }' > long.csv
awk 'BEGIN { print "id,name,note,v"; for (i = 0; i < 3000; i++) printf "%d,%s,%s,%d\n", i, (i % 3 ? "n" i : "NA"), (i > 2000 && i % 2 ? "NA" : i % 4 ? "b " : "\"b\""), i % 11 }' > nulls.csv

# each of the files alone and all of them, in memory; then the same rows by way of another order
try() { # INPUTS STEP
	echo '{"dtx":1,"inputs":['"$1"'],"steps":['"$2"'{"op":"sort","by":["v","name","id"]}]}' > plan.json
	echo "$(echo "$1" | cut -c 1-40) $2"
	for rows in 1 1000 65536; do
		for threads in 1 8; do
			dtx run -q plan.json --fallback off -o out.csv --batch-rows $rows --threads $threads > log 2>&1 && cksum < out.csv || cat log
		done
	done | sort | uniq -c | sed 's/^ *//'
	sed 1d out.csv | wc -l
	sed 1d out.csv | sed 's/.*,//' | sort -n -c && echo sorted
}
one() { try '{"name":"main","path":"'"$1"'"'"${2:-}"'}' ""; }
one comma.csv
one semicolon.csv
one lines.jsonl
one long.csv
one nulls.csv ',"null_values":["NA"]'
all='{"name":"main","path":"comma.csv"},{"name":"b","path":"semicolon.csv"},{"name":"c","path":"lines.jsonl"},{"name":"d","path":"long.csv"},{"name":"e","path":"nulls.csv","null_values":["NA"]}'
try "$all" '{"op":"union","with":["b","c","d","e"]},'
try "$all" '{"op":"union","in":"d","with":["d","e","b","main","c"]},'
# the output's own dialect is the one that cells of several meet in; of two outputs, the first one's
(echo 'id	name	note	v'; for i in 1 3 5 7; do printf '%d\t"n%d"\t  x\t%d\n' $i $i $i; done) > tab.tsv
(echo 'id,name,note,v'; for i in 2 4 6 8; do printf '%d,"n%d",  y,%d\n' $i $i $i; done) > few.csv
for output in '{"path":"out.tsv","table":"all"}' '{"path":"out.tsv","format":"auto","table":"all"}' '{"path":"out.csv","table":"all"}' '{"path":"out.csv","delimiter":";","table":"all"}' '[{"path":"out.csv","table":"all"},{"path":"out.tsv","table":"all"}]'; do
	echo "$output"
	echo '{"dtx":1,"inputs":[{"name":"main","path":"few.csv"},{"name":"b","path":"tab.tsv"}],"steps":[{"op":"union","with":["b"]},{"op":"sort","by":["id"],"out":"all"}],"output":'"$output"'}' > plan.json
	for rows in 1 3 65536; do
		rm -f out.csv out.tsv
		dtx run -q plan.json --fallback off --batch-rows $rows --threads 2
		cat out.* | cksum
	done | uniq
	cat out.*
done
# cells beside some that stand for null, without a sort
echo '{"dtx":1,"inputs":[{"name":"main","path":"nulls.csv","null_values":["NA"]}],"steps":[{"op":"filter","where":"v >= 0"}]}' > plan.json
for rows in 1 7 1000 65536; do dtx run -q plan.json --fallback off --batch-rows $rows | cksum; done | uniq
# fewer columns are wanted than are there, and in another order
try '{"name":"main","path":"comma.csv"}' '{"op":"select","cols":["note","id","name","v"]},{"op":"derive","set":[{"as":"id","expr":"id + 1"}]},'

# on disk, where records and spans meet
for i in 1 2 3 4 5 6 7 8 9 10; do sed 1d comma.csv; sed 1d long.csv; done | awk 'NR == 1 { print "id,name,note,v" } { for (i = 0; i < 5; i++) print }' > big.csv
(cat semicolon.csv; for i in 1 2 3 4 5 6 7 8 9 10; do sed 1d semicolon.csv; done) > other.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"big.csv"},{"name":"b","path":"other.csv"}],"steps":[{"op":"union","with":["b"]},{"op":"sort","by":["v","name","id"]}]}' > plan.json
for way in '1 24M' '2 48M'; do
	set -- $way
	dtx run -q plan.json --fallback off --threads $1 --memory 1G | cksum
	dtx run -q plan.json --fallback off --threads $1 --memory $2 --record r.json | cksum
	grep -o '"spilled"' r.json | sort -u
done

. "$LIB"
# what an output cannot take is the output's; what it has no use for is told
printf 'a,A\n1,2\n' > in.csv
try() {
	echo "{\"dtx\":1,\"steps\":[{\"op\":\"limit\",\"count\":9}],\"output\":$1}" > plan.json
	dtx run --repair plan.json "${2:-in.csv}" || echo "exit $?"
}
try '{"path":"o.xlsx","as_table":true}'
try '[{"path":"o.csv"},{"path":"o.xlsx","sheet":"a/b"}]'
try '{"path":"-","format":"jsonl","delimiter":";","bom":true,"null_text":"-","as_table":true}'
{ printf 'a,b\n1,'; head -c 40000 /dev/zero | tr '\0' x; echo; } > long.csv
try '{"path":"o.xlsx"}' long.csv

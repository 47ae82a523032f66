# as limit_fault, for the cells of a workbook, whose declared types are cast when they arrive
. "$LIB"
awk 'BEGIN { print "x,s"; for (i = 0; i < 4000; i++) print i "," (i == 3000 ? "bad" : i) }' > in.csv
dtx convert -q in.csv -o in.xlsx
src=in.xlsx
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
	for col in x s; do
		try '{"dtx":1,"inputs":[{"name":"main","types":{"s":"int"}}],"steps":[{"op":"filter","where":"'$col' >= 2998"},{"op":"limit","n":'$n'}]}'
	done
done

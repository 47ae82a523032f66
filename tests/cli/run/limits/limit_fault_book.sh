# as limit_fault, for the cells of a workbook, whose declared types are cast when they arrive
. "$LIB"
awk 'BEGIN { print "x,s"; for (i = 0; i < 4000; i++) print i "," (i == 3000 ? "bad" : i) }' > in.csv
dtx convert -q in.csv -o in.xlsx
src=in.xlsx
for n in 2 3; do
	for col in x s; do
		at_every_size '{"dtx":1,"inputs":[{"name":"main","types":{"s":"int"}}],"steps":[{"op":"filter","where":"'$col' >= 2998"},{"op":"limit","n":'$n'}]}'
	done
done

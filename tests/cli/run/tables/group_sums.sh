# Sums and means of ints over many rows, by few groups and by many, of small values and of large
# ones, from CSV and from Parquet: they are what awk adds up.
awk 'BEGIN {
	print "few,many,small,large,edge"
	for (i = 0; i < 40000; i++)
		printf "k%d,%d,%d,%.0f,%.0f\n", i % 5, i * 7919 % 3001, i % 1000 - 500, (i % 7) * 600000000, (i % 3 - 1) * 536870912
}' > in.csv
want() {
	awk -F, -v key="$1" 'NR > 1 {
		n[$key]++; s[$key] += $3; l[$key] += $4; e[$key] += $5
	} END { for (k in n) printf "%s,%.0f,%.0f,%.0f,%.0f\n", k, s[k], l[k], e[k], s[k] / n[k] * 1000 }' in.csv | sort
}
$DTX convert -q in.csv -o in.parquet
for key in few many; do
	column=$([ $key = few ] && echo 1 || echo 2)
	want $column > want
	for from in csv parquet; do
		cat > plan.json <<EOF
[{"op": "group_by", "by": ["$key"], "agg": {"s": "sum(small)", "l": "sum(large)", "e": "sum(edge)",
  "m": "round(mean(small) * 1000)"}},
 {"op": "cast", "types": {"m": "int64"}}]
EOF
		$DTX run -q plan.json in.$from | tail -n +2 | sort > got
		cmp want got && echo "$key groups of $from: as awk adds them"
	done
done

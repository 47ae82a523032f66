. "$LIB"
for t in 1 2 8; do dtx run "$FIX/plans/cost.json" --threads $t > $t.csv; done
cmp 1.csv 2.csv
cmp 1.csv 8.csv
cat 1.csv

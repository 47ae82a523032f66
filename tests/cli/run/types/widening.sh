. "$LIB"
# the sample says int, row 150,000 says otherwise
awk 'BEGIN { print "k,v"; for (i = 0; i < 150000; i++) print "k" i % 3 "," i; print "k0,0.5" }' > in.csv
echo '[{"op":"group_by","by":["k"],"agg":{"s":"sum(v)"}}]' > plan.json
dtx run plan.json in.csv

# A table without columns keeps its rows: as text a line each below that of the header
. "$LIB"
printf 'b\ntrue\ntrue\n' > in.csv
echo '[{"op":"dummies","cols":["b"],"drop_first":true}]' > plan.json
dtx run -q plan.json in.csv -o out.csv
wc -l < out.csv
dtx run -q plan.json in.csv -o out.json
cat out.json

. "$LIB"
# the steps that number the rows are not counted against a plan of the most steps there may be
printf 'k,v\nN,5\nS,7\nN,9\nS,2\n' > in.csv
{
	printf '['
	i=0
	while [ $i -lt 999 ]; do printf '{"op":"filter","where":"v > %d"},' $((i % 4)); i=$((i + 1)); done
	printf '{"op":"group_by","by":["k"],"agg":{"v":"sum"}}]'
} > plan.json
dtx run plan.json in.csv -o out.csv -q
dtx why out.csv --row 1 --col v | sed 's/run .*/run ID/' | head -4
dtx why-not out.csv 'in.csv!L5' | sed 's/run .*/run ID/' | grep -v passed
dtx run plan.json in.csv -o kept.csv -q --lineage rows
dtx why kept.csv --row 1 --col v | sed 's/run .*/run ID/' | head -4
sed 's/^\[/[{"op":"filter","where":"v > 0"},/' plan.json > more.json
dtx run more.json in.csv || echo "exit $?"

# codes such as 3E2 and 30E1 are text: no join, group or distinct takes one for the other
. "$LIB"
printf 'part,n\n3E2,1\n30E1,2\n450,3\n' > in.csv
printf 'part,price\n300,9\n30E1,8\n' > prices.csv
run() { echo "$1" > plan.json; dtx run --fallback off plan.json in.csv ${2:-} -o - 2>&1; }
run '{"dtx":1,"inputs":[{"name":"main"},{"name":"prices"}],"steps":[{"op":"left_join","with":"prices","on":"part"}]}' prices=prices.csv
run '[{"op":"group_by","by":["part"],"agg":{"n":"sum(n)"}}]'
# far below the sample too
{ cat in.csv; seq 1 9000 | sed 's/$/,0/'; echo '7E1,4'; } > deep.csv
echo '[{"op":"filter","where":"n > 0"},{"op":"distinct","cols":["part"]}]' > plan.json
dtx run -q plan.json deep.csv -o -
# a column with a float that is written as one has numbers, and so has JSON
printf 'x\n3E2\n30E1\n2.5e-3\n' > in.csv
run '[{"op":"derive","set":{"t":"typeof(x)","y":"x * 2"}}]'
printf '{"x":3E2}\n{"x":30E1}\n' > in.jsonl
echo '[{"op":"fill","cols":["x"]},{"op":"derive","set":{"t":"typeof(x)"}}]' > plan.json
dtx run -q plan.json in.jsonl -o -
# what the warning says to do
printf 'x\n3E2\n30E1\n' > in.csv
run '{"dtx":1,"inputs":[{"name":"main","types":{"x":"float"}}],"steps":[{"op":"derive","set":{"y":"x * 2"}}]}'

# 1.750 in a file where another column has decimal commas may be 1750: a warning says so, and what it proposes is right
. "$LIB"
printf 'part;weight;price\na;1.750;2,5\nb;900;1.002,75\n' > in.csv
echo '[{"op":"group_by","by":[],"aggs":{"w":"sum(weight)"}}]' > plan.json
dtx run plan.json in.csv
dtx convert in.csv --to jsonl
dtx run plan.json in.csv --read decimal=, --read group=.
dtx inspect in.csv --plan > seen.json
grep -A3 dialect seen.json
dtx run seen.json --to jsonl
dtx suggest in.csv 2> /dev/null | grep -A3 dialect

echo '# far below the rows that are looked at first'
awk 'BEGIN { print "part;weight;price"; for (i = 0; i < 90000; i++) print "a;" (i == 70001 ? "1.750" : i % 90) ";" i % 7 ",5" }' > long.csv
dtx run plan.json long.csv

echo '# no doubt: other points, no sure comma, no group, declared marks, a column of texts'
none() { # TEXT
	printf "$1" > none.csv
	dtx run plan.json none.csv 2>&1 | grep reader_note || true
}
none 'weight;price\n1.750;2,5\n1.75;3\n'
none 'weight;price\n1.750;2,500\n'
none 'weight;price\n0.750;2,5\n'
none 'weight;price\n1750.250;2,5\n'
none 'weight;price\n1.750;2,5\n2;left, right\n'
none 'weight;price\n1.750;2.5\n'
none 'weight;list\n1.750;2,5\n2;1,2,3\n'

echo '# a decimal comma declared without the mark of groups: each next step that is offered gives 2650, as does the pair'
sum='{"op":"group_by","by":[],"aggs":{"w":"sum(weight)"}}'
comma() { # GROUP STEPS
	echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv","dialect":{"decimal":","'"$1"'}}],"steps":['"$2"']}' > comma.json
	dtx run comma.json 2>&1 | grep -v '^  or let'
}
comma '' "$sum"
comma ',"group":"."' "$sum"
comma '' '{"op":"parse_number","cols":["weight"],"decimal":",","group":"."},'"$sum"
echo '# also where all values have groups'
printf 'part;weight;price\na;1.750;2,5\nb;2.250;3\n' > in.csv
comma '' "$sum"
echo '# without declared marks, in a column of ints and decimal commas'
printf 'price\n7\n8\n2,5\n' > in.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv","dialect":{"delimiter":";"}}],"steps":[{"op":"filter","where":"price > 3"}]}' > comma.json
dtx run comma.json 2>&1 | grep next:

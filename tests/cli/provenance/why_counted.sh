# rows that give no cell: those a semi join found, and those that were only counted
. "$LIB"
printf 'k,v\na,1\nb,2\nc,3\na,4\n' > m.csv
printf 'k\na\nc\na\n' > r.csv
semi() {
	echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"r"}],"steps":[{"op":"join","with":"r","how":"semi",'"$1"'},{"op":"sort","by":["-v"]}]}' > s.json
	dtx run -q s.json m.csv r=r.csv -o o.csv
	dtx why o.csv --row 1 --col v | sed 's/run .*//'
}
semi '"using":["k"]'
semi '"on":[{"left_expr":"upper(k)","right_expr":"upper(k)"}]'
echo '[{"op":"group_by","by":[],"agg":{"n":"count()"}}]' > c.json
dtx run -q c.json m.csv -o c.csv
dtx why c.csv --row 1 --col n | sed 's/run .*//'
dtx why c.csv --row 1 --col n --json | tr -d "\n " | grep -o '"counted":\[[^]]*\]'

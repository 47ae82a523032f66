. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/'; }
# groups by a formula and sums over everything: the same from the file of the result and without it
seq 1 200 | awk 'BEGIN { print "n,k,x" } { print $1 "," $1 % 4 "," $1 * 2 }' > in.csv
ask() { # column steps
	echo '{"dtx":1,"steps":['"$2"']}' > p.json
	dtx run -q p.json in.csv -o out.csv
	dtx why out.csv --row 1 --col "$1" | id > short.txt
	run=$(dtx provenance out.csv | sed -nE "s#^run *([0-9a-f]{8}).*#\1#p")
	mv out.csv away.csv
	dtx why "$run" --row 1 --col "$1" | id | cmp - short.txt
	cat short.txt
}
ask s '{"op":"derive","set":{"b":"n % 7"}},{"op":"group_by","by":["b"],"agg":{"s":"sum(x)"}}'
ask s '{"op":"group_by","by":[{"as":"b","expr":"k + 1"}],"agg":{"s":"sum(x)","m":"mean(n)"}}'
# the name of a column that is made anew is not that of the source
ask s '{"op":"derive","set":{"k":"n % 5"}},{"op":"derive","set":{"b":"k + 1"}},{"op":"group_by","by":["b"],"agg":{"s":"sum(x)"}}'
ask s '{"op":"group_by","by":[],"agg":{"s":"sum(x)","m":"mean(n)"}}'
ask m '{"op":"filter","where":"k == 1"},{"op":"group_by","by":[],"agg":{"s":"sum(x)","m":"mean(n)"}},{"op":"derive","set":{"m":"m * 2"}}'
# a result that is no longer made so is not explained
printf 'n,k,x\n1,1,1\n' > in.csv
dtx why out.csv --row 1 --col m 2>/dev/null || echo "exit $?"

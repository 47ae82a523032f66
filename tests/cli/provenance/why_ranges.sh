# many cells are shown as ranges: each holds what went in and nothing else, to the last line of the file
. "$LIB"
seq 1 300 | awk 'BEGIN { print "a" } { print }' > in.csv
ask() { # the rows that are kept; their lines, counted another way
	echo '[{"op":"filter","where":"'"$1"'"},{"op":"group_by","by":[],"agg":{"s":"sum(a)"}}]' > plan.json
	for rows in 1 7 65536; do
		dtx run -q plan.json in.csv -o out.csv --batch-rows $rows
		dtx why out.csv --row 1 --col s --all | grep '^cells'
	done | uniq
}
ask 'a > 0'
ask 'a <= 64'
ask 'a <= 65'
ask 'a <= 66 or a == 200'
ask 'a <= 100 or a == 200 or a == 205'
ask 'a <= 100 or a == 102 or a > 150 and a != 299'
ask 'a > 150'
ask 'a % 3 != 0 and a < 70 or a > 200'
# a record of two lines, and two of one
awk 'BEGIN { print "a,b"; for (i = 1; i <= 150; i++) print i "," (i % 100 ? "x" : "\"two\nlines\"") }' > in.csv
ask 'a > 0'

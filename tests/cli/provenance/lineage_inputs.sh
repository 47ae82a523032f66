. "$LIB"
# Row numbers of seven inputs are kept; of one more none, which is said, and the result is written.
for n in 1 2 3 4 5 6 7 8; do printf 'k,v\na,%s\n' $n > $n.csv; done
plan() { # LAST: all of them, one below the other
	printf '{"dtx":1,"inputs":[{"name":"main","path":"1.csv"}'
	printf ',{"name":"t%s","path":"%s.csv"}' $(seq 2 $1 | sed 's/.*/& &/')
	printf '],"steps":[{"op":"union","with":["t2"'
	printf ',"t%s"' $(seq 3 $1)
	echo ']}]}'
}
plan 7 > seven.json
plan 8 > eight.json
dtx run seven.json -q -o seven.csv --lineage rows
dtx provenance seven.csv | grep -o 'lineage rows'
dtx run eight.json -o eight.csv --lineage rows
dtx why eight.csv --row 8 --col v | tail -n +2

# The rows of a join that found no partner, dropped or not, and that there were none.
. "$LIB"
printf 'k,v\na,1\na,2\nb,3\n' > in.csv
printf 'k,w\na,1\nb,2\n' > all.csv
printf 'k,w\na,1\nz,2\n' > some.csv
for how in left inner right full semi anti; do
	echo '{"dtx": 1, "inputs": [{"name": "main"}, {"name": "r"}], "steps": [{"op": "join", "with": "r", "on": ["k"], "how": "'$how'"}]}' > j.json
	for r in all some; do
		dtx run j.json in.csv r=$r.csv -o out.csv -q
		echo "$how $r $(dtx provenance out.csv | grep '^rows')"
	done
done

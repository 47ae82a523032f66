. "$LIB"
# The rejects never take the place of a table, and no --rejects goes without effect.
printf 'n,t\n1,a\n2\n' > in.csv
ln -s in.csv link.csv
for f in in.csv link.csv out.csv; do
	dtx convert in.csv --ragged quarantine -o out.csv --rejects $f || echo "exit $?"
done
dtx convert in.csv --ragged pad -o out.csv --rejects r.csv || echo "exit $?"
cat > plan.json <<'END'
{"dtx": 1, "inputs": [{"name": "main", "path": "in.csv", "ragged": "quarantine", "rejects": "a.csv"},
                      {"name": "other", "path": "in.csv", "ragged": "quarantine", "rejects": "b.csv"}],
 "steps": [{"op": "concat", "with": "other"}]}
END
dtx run plan.json -o out.csv || echo "exit $?"
cat in.csv
ls *.csv

. "$LIB"
cp "$FIX/xlsx/weeks.xlsx" "$FIX/snippets/balance.txt" "$FIX/plans/balance.json" .
dtx run balance.json weeks.xlsx -o out.csv 2> err.txt || echo "exit $?"
plain < err.txt
dtx run balance.json weeks.xlsx --snippet balance.txt -o out.csv
head -4 out.csv
dtx run balance.json weeks.xlsx -o again.csv
cmp out.csv again.csv && echo same
dtx snippet list | sed 's/^[0-9a-f]\{8\}/ID/'
dtx provenance again.csv | plain
# what a step behind it has of the table that it joins is not asked of the snippet
printf 'region,hours\nN,5\nS,7\nN,9\n' > h.csv
printf 'region,heads\nN,2\nS,1\n' > heads.csv
cat > joined.json <<'END'
{"dtx":1,"inputs":[{"name":"main","path":"h.csv"},{"name":"heads","path":"heads.csv"}],
 "steps":[{"op":"sums"},{"op":"join","with":"heads","on":["region"],"how":"left"},
  {"op":"derive","set":{"each":"hours / heads"}}]}
END
cat > joined.py <<'END'
def transform(tables, params):
    return tables["main"].groupby("region", sort=False).hours.sum().reset_index()
END
dtx prompt joined.json -q | grep '"need"'
dtx run joined.json --snippet joined.py -q -o -

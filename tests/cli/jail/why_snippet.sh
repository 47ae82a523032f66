. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/; s/^snippet     [0-9a-f]{8}/snippet     ID/'; }
# columns alone, and how they are known
cp "$FIX/xlsx/weeks.xlsx" "$FIX/plans/balance.json" "$FIX/snippets/balance.txt" .
dtx run balance.json weeks.xlsx --snippet balance.txt -o b.csv -q
dtx why b.csv --row 1 --col state | id
dtx why b.csv D2 | id
dtx why b.csv D2 --json | grep '"class"'
sed 's/^FORMULAS = .*/FORMULAS = {"balance": "clip of booked - planned"}/' balance.txt > said.txt
dtx run balance.json weeks.xlsx --snippet said.txt -o c.csv -q --store other.db
dtx why c.csv E2 --store other.db | id
dtx why-not b.csv 'Weeks!A3' || echo "exit $?"
# by key, and a row that is not there
printf 'region,ok,hours,note\nN,y,5,a\nS,y,7,b\nN,n,9,c\n' > h.csv
echo '[{"op": "sums"}]' > sums.json
cat > sums.py <<'E'
def transform(tables, params):
    return tables["main"].groupby("region", sort=False).hours.sum().reset_index()
E
dtx run sums.json h.csv --snippet sums.py -o s.csv -q
dtx why s.csv --key region=N --col hours | id
dtx why s.csv --row 9 --col hours || echo "exit $?"
# nor kept with the run: a step that a snippet did in place of the typed one
printf 'k,v\na,1\nb,2x\n' > x.csv
echo '[{"op":"cast","types":[{"name":"v","type":"int"}]}]' > cast.json
cat > cast.py <<'END'
def transform(tables, params):
    t = tables["main"].copy()
    t["v"] = t.v.str.rstrip("x").astype("int64")
    return t
END
dtx run cast.json x.csv --snippet cast.py -q -o x.out.csv --lineage rows || echo "exit $?"
[ -e x.out.csv ] || echo "no file"

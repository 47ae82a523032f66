# A wide row: which long rows its ids, its cells and what is made of these are of.
. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/'; }
printf 'k,q,v\na,Q1,5\na,Q2,6\nb,Q1,7\na,Q1,8\nb,2,1\n' > in.csv
cat > wide.json <<'E2'
{"dtx": 1, "steps": [{"op": "pivot_wider", "id": ["k"], "names_from": ["q"], "values_from": ["v"], "agg": "sum"},
 {"op": "derive", "set": {"r": "Q1 / Q2", "t": "concat(k, Q1)"}}, {"op": "rename", "map": {"Q1": "first"}}]}
E2
dtx run wide.json in.csv -o wide.csv
cat wide.csv
for c in k first Q2 2 r t; do dtx why wide.csv --row 1 --col $c | id; done
dtx why wide.csv --row 2 --col 2 | id
echo "== of stored row numbers"
dtx run wide.json in.csv -o kept.csv --lineage rows
for c in k first r; do dtx why kept.csv --row 1 --col $c | id | grep -E '^(kept|formula|cells)'; done
echo "== with a group behind it, and without an aggregate"
cat > more.json <<'E2'
{"dtx": 1, "steps": [{"op": "distinct", "cols": ["k", "q"]}, {"op": "pivot_wider", "id": ["k"], "names_from": ["q"],
 "values_from": ["v"], "names_prefix": "in ", "names": ["Q1", "Q2", "2"]},
 {"op": "group_by", "by": [], "agg": {"all": "sum(`in Q1`)", "two": "max(`in Q2`)"}}]}
E2
dtx run more.json in.csv -o more.csv
cat more.csv
for c in all two; do dtx why more.csv --row 1 --col $c | id; done
dtx provenance wide.csv | sed -n '/^formula/,/^disc/p'
echo "== a condition on another cell: its rows decided"
echo '[{"op": "pivot_wider", "id": ["k"], "names_from": ["q"], "values_from": ["v"], "agg": "sum"}, {"op": "filter", "where": "Q2 > 3"}]' > kept.json
dtx run kept.json in.csv -o some.csv -q
dtx why some.csv B2 | id
dtx run kept.json in.csv -o some.csv -q --lineage rows
dtx why some.csv B2 | id | grep -v '^note'
echo "== formulas for columns that only the run knows: all rows may matter"
echo '[{"op": "pivot_wider", "id": ["k"], "names_from": ["q"], "values_from": ["v"], "agg": "sum"}, {"op": "derive", "across": [{"not": ["k"]}], "set": {"{col}": "_ / sum(_)"}}]' > shares.json
dtx run shares.json in.csv -o shares.csv -q
cat shares.csv
dtx why shares.csv --row 1 --col Q2 | id

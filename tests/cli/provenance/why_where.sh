# An aggregate over some rows of a group names those, the others as what they are: of the group.
. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/'; }
printf 'k,amount,status,late\na,5,paid,1\na,6,open,2\nb,7,open,3\na,8,paid,4\na,9,void,5\n' > pay.csv
cat > pay.json <<'E2'
{"dtx": 1, "steps": [{"op": "group_by", "by": ["k"], "agg": {
 "s": "sum(amount, where: status == 'paid')", "n": "count(where: status == 'paid')", "z": "sum(amount)",
 "share": "sum(amount, where: status == 'paid') / sum(amount)", "each": "sum(amount, where: status == 'paid') / count()",
 "two": "sum(amount, where: status == 'paid') - sum(amount, where: status == 'open')",
 "apart": "sum(amount, where: status == 'paid') + max(late)"}},
 {"op": "derive", "set": {"rest": "z - s", "part": "s / n"}}]}
E2
dtx run pay.json pay.csv -o out.csv
cat out.csv
for c in s n share each two apart rest part; do dtx why out.csv --row 1 --col $c | id | grep -v '^  *='; done
dtx why out.csv --row 2 --col s | id
echo "== of stored row numbers the rows of the group, and that these may be too many"
dtx run pay.json pay.csv -o kept.csv --lineage rows
dtx why kept.csv --row 1 --col s | id
dtx why kept.csv --row 1 --col z | id | grep formula
echo "== through a second group, and all of one"
cat > twice.json <<'E2'
{"dtx": 1, "steps": [{"op": "group_by", "by": ["k", "status"], "agg": {"a": "sum(amount)"}},
 {"op": "group_by", "by": [], "agg": {"paid": "sum(a, where: status == 'paid')", "top": "max(a, where: k == 'a')"}}]}
E2
dtx run twice.json pay.csv -o twice.csv
for c in paid top; do dtx why twice.csv --row 1 --col $c | id; done

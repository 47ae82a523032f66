# ops that compare two tables
. "$LIB"
short() { sed -E 's/run [0-9a-f]{8}/run ID/'; }
run() { printf '{"dtx": 1, "inputs": [{"name": "main"}, {"name": "old"}], "steps": [%s]}' "$1" > p.json; dtx run p.json main=in.csv old=old.csv -o out.csv -q; }
printf 'id,v,x\na,1,p\nb,2,q\nb,2,q\nc,3,r\n' > in.csv
printf 'id,v,x\nc,3,r\nd,4,s\nb,5,q\nc,3,r\n' > old.csv
run '{"op": "intersect", "with": "old", "cols": ["id"]}'
dtx why out.csv --row 2 --col v | short
dtx why-not out.csv L4 | short
run '{"op": "intersect", "with": "old", "cols": [{"regex": "^i"}]}'
dtx why out.csv --row 2 --col v | short
run '{"op": "except", "with": "old"}, {"op": "filter", "where": "v > 1"}'
dtx why out.csv --row 1 --col x | short
dtx why-not out.csv L5 | short
printf 'id,v,x\nc,3,r\nd,4,s\nb,5,q\n' > old.csv
run '{"op": "distinct"}, {"op": "diff_tables", "with": "old", "key": "id", "cols": ["v"]}'
for row in 1 2 3; do dtx why out.csv --row $row --col _change | short; done
dtx why out.csv --row 2 --col v_old | short

. "$LIB"
# cells of a Parquet file are cited by row and column
cp "$FIX/parquet/types.parquet" t.parquet
echo '{"dtx":1,"steps":[{"op":"filter","where":"id > 2"},{"op":"derive","set":{"twice":"f32 * 2","row":"source_row()","sheet":"source_sheet()"}},
  {"op":"select","cols":["id","twice","row","sheet"]},{"op":"head","n":3}]}' > p.json
for rows in "" "--lineage rows"; do
	dtx run p.json t.parquet -o out.csv $rows
	"$DTX" why out.csv --row 2 --col twice | grep -E '^(cells|decided)'
	"$DTX" why out.csv --row 2 --col twice --again | grep -E '^(cells|decided)'
	"$DTX" why-not out.csv 't.parquet!row 2' | sed '1s/ *run .*//'
	"$DTX" replay out.csv | grep -o '^identical'
done
cat out.csv
echo '{"dtx":1,"steps":[{"op":"group_by","by":["flag"],"agg":{"s":"sum(tiny)"}}]}' > g.json
dtx run g.json t.parquet -o g.csv
"$DTX" why g.csv --row 1 --col s | grep -E '^(cells|decided)'
# several files are one input
mkdir many
cp t.parquet many/a.parquet
cp "$FIX/parquet/types-gzip.parquet" many/b.parquet
dtx run g.json 'many/*.parquet' -o g.csv
head -3 g.csv
"$DTX" why g.csv --row 1 --col s | grep 'parquet!'

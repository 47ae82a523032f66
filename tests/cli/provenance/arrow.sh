. "$LIB"
# cells of an Arrow file are cited by row and column
cp "$FIX/arrow/types.arrow" t.arrow
echo '{"dtx":1,"steps":[{"op":"filter","where":"u8 == 0"},{"op":"derive","set":{"twice":"i8 * 2","row":"source_row()"}},
  {"op":"select","cols":["id","twice","row"]}]}' > p.json
for rows in "" "--lineage rows"; do
	dtx run -q p.json t.arrow -o out.csv $rows
	"$DTX" why out.csv --row 2 --col twice | grep -E '^(cells|decided)'
	"$DTX" why-not out.csv 't.arrow!row 2' | sed '1s/ *run .*//'
	"$DTX" replay out.csv | grep -o '^identical'
done
cat out.csv
# several files are one input
mkdir many && cp t.arrow many/a.arrow && cp "$FIX/arrow/types.arrows" many/b.arrows
echo '{"dtx":1,"steps":[{"op":"group_by","by":["coded"],"agg":{"s":"sum(id)"}}]}' > g.json
dtx run -q g.json 'many/*' -o g.csv && cat g.csv
"$DTX" why g.csv --row 1 --col s | grep 'arrows\?!'

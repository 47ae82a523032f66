# A suffix that names a format is believed: other bytes are an error, or read with a note.
. "$LIB"
try() {
	dtx convert "$@" || echo "exit $?"
}
printf "[{'a': 1, 'b': 'x'}]" > repr.json
printf 'call([{"a":1}]);' > padded.json
printf '# remark\n{"a":1}\n{"a":2}\n' > remark.jsonl
printf '{"a":1}\n{"a":2\n{"a":3}\n' > broken.jsonl
gzip -n < broken.jsonl > broken.ndjson.gz
printf 'a,b\n1,2\n' > table.JSON
printf '\036{"a":1}\n\036{"a":2}\n' > sequence.jsonl
printf '[{"a":1},{"a":2}]' > records.csv
printf 'a\tb\n1\t2\n' > tabs.xls
printf '{"a":1}\n' | gzip -n > one.xlsx.gz
for f in repr.json padded.json remark.jsonl broken.jsonl broken.ndjson.gz table.JSON sequence.jsonl \
	records.csv tabs.xls one.xlsx.gz; do
	try $f --to csv
done
try table.JSON --from csv --to csv
try records.csv --from json --to csv
try tabs.xls --from tsv --to csv
cp records.csv records.txt
try records.txt --to csv
dtx convert tabs.xls --to xlsx -o book.xlsx -q
cp book.xlsx book.json
cp book.xlsx book.csv
cp book.xlsx book.xls
try book.json --to csv
try book.csv --to csv
try book.xls --to csv
printf 'a,b\n1,2\n' > table.ods
try table.ods --to csv

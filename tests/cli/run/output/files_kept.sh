. "$LIB"
# no output takes the place of a file that the run reads or that dtx keeps, by whatever path
export XDG_CONFIG_HOME=$HOME/settings
mkdir sub settings settings/dtx
echo '{}' > settings/dtx/config.json
printf 'a,b\n1,2\n3,4\n' > in.csv
cp in.csv part1.csv
cp in.csv part2.csv
echo '[{"op":"derive","set":{"c":"a + 1"}}]' > plan.json
echo 'def transform(tables, params): return tables["main"]' > snippet.py
echo key > key.txt
ln -s in.csv link.csv
ln in.csv hard.csv
ln -s later.csv dangling.csv
dtx run plan.json in.csv > first.csv
kept="in.csv part1.csv plan.json snippet.py key.txt settings/dtx/config.json"
cksum $kept > before
refused() {
	echo "$*" >&2
	dtx "$@" > said.txt && echo "exit 0" || echo "exit $?"
	cat said.txt
	cksum $kept | cmp - before
}
refused run plan.json in.csv -o plan.json
refused run plan.json in.csv -o plan.json --to csv
refused run plan.json in.csv -o in.csv
refused run plan.json in.csv -o sub/../in.csv
refused run plan.json in.csv -o link.csv
refused run plan.json link.csv -o in.csv
refused run plan.json in.csv -o hard.csv
refused run plan.json 'part*.csv' -o part1.csv
refused run plan.json in.csv --snippet snippet.py -o snippet.py
refused run plan.json in.csv --author-key-file key.txt -o key.txt
refused run plan.json in.csv -o .store.db
refused run plan.json in.csv -o .store.db-wal --to csv
refused run plan.json in.csv -o settings/dtx/config.json
refused run plan.json in.csv --ragged quarantine -o out.csv --rejects in.csv
refused run plan.json in.csv --ragged quarantine -o out.csv --rejects out.csv
refused run plan.json in.csv -o out.csv --record plan.json
refused run plan.json in.csv -o dangling.csv --record later.csv
refused run plan.json in.csv -o out.csv --head-file in.csv
refused run plan.json in.csv -o out.csv --record out.csv.dtx.json --receipt
refused run plan.json - -o in.csv < in.csv
# a line is added to a list of heads alone
cp part1.csv notes.csv
refused run plan.json in.csv -o out.csv --head-file notes.csv
cmp notes.csv part1.csv
# an output of the plan; two of them
echo '{"dtx":1,"inputs":{"name":"main","path":"in.csv"},"steps":[{"op":"limit","n":9}],"output":{"path":"sub/../link.csv"}}' > own.json
refused run own.json
echo '{"dtx":1,"steps":[{"op":"limit","n":9}],"output":[{"path":"a.csv"},{"path":"./a.csv"}]}' > own.json
refused run own.json in.csv
# nothing of it has run
dtx provenance log | wc -l
ls out.csv later.csv a.csv 2>&1 | sed 's/.*: //'
# stdout is the input: what is added to it would be read
cp in.csv both.csv
dtx run plan.json both.csv >> both.csv || echo "exit $?"
cmp both.csv in.csv

. "$LIB"
# where an output cannot go is known before anything runs; where it can, by every name
printf 'a\n1\n' > in.csv
echo '[{"op":"derive","set":{"b":"a + 1"}}]' > plan.json
mkdir sub
cp in.csv read_only.csv
chmod 444 read_only.csv
try() {
	echo "$*" >&2
	dtx "$@" && echo "exit 0" || echo "exit $?"
}
try run plan.json in.csv -o sub
try run plan.json in.csv -o sub/
try run plan.json in.csv -o in.csv/
try run plan.json in.csv -o in.csv/x.csv
try run plan.json in.csv -o nosuch/x.csv
try run plan.json in.csv -o nosuch/
try run plan.json in.csv -o read_only.csv
try run plan.json in.csv -o ""
try run plan.json in.csv -o $(printf '%0256d' 0).csv 2>&1 | sed 's/00*/0/'
ln -s one.csv two.csv
ln -s two.csv one.csv
try run plan.json in.csv -o one.csv
{ dtx run plan.json in.csv >&- || echo "exit $?" >&2; } 2>&1
try run plan.json in.csv -o x.csv --record nosuch/x.json
try run plan.json in.csv -o x.csv --ragged quarantine --rejects sub
ls x.csv 2>&1 | sed 's/.*: //'
# suffixes: those of the writers in any letter case, or --to
try run plan.json in.csv -o x.orc
try run plan.json in.csv -o .profile
try run plan.json in.csv -o x.csv.bz2
try run plan.json in.csv -o x.csv --to orc
echo '{"dtx":1,"steps":[{"op":"limit","n":9}],"output":{"path":"x.xls"}}' > old.json
try run old.json in.csv
try check old.json
try run old.json in.csv -o X.JSON
try run plan.json in.csv -o X.TSV
try run plan.json in.csv -o x.data --to jsonl
try run plan.json in.csv -o plain
cat X.JSON X.TSV x.data plain
# descriptors and pipes take the bytes as they come
dtx run plan.json in.csv -o /dev/fd/3 3> three.txt
cat three.txt
{ echo before; dtx run plan.json in.csv -o /dev/stderr; } > both.txt 2>&1
cat both.txt
mkfifo pipe.csv
cat pipe.csv > piped.txt &
dtx run plan.json in.csv -o pipe.csv
wait
cat piped.txt
try run plan.json in.csv -o /dev/null
# a file that this run reads is moved to the output's place while it runs
mkfifo slow.csv
cp in.csv moved.csv
{ cat in.csv; mv moved.csv out.csv; } > slow.csv &
echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"other","path":"slow.csv"}],"steps":[{"op":"union","with":"other"}]}' > two.json
try run two.json moved.csv -o out.csv
wait
cmp out.csv in.csv
ls -A | grep tmp || true

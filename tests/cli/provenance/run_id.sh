. "$LIB"
# an id that the caller chose is that of the run; one that is taken, or is no UUIDv7, is refused
printf 'a\n1\n' > in.csv
echo '{"dtx":1,"steps":[{"op":"limit","n":1}]}' > plan.json
id=01a22c2f-473a-7574-9a5b-e1c6057e7352
try() { dtx "$@" && echo "exit 0" || echo "exit $?"; }
try run -q plan.json in.csv -o out.csv --run-id $id
dtx provenance out.csv --json | grep '"run_id"'
try run plan.json in.csv -o second.csv --run-id $id
ls second.csv 2> /dev/null || echo "no second.csv"
dtx replay -q out.csv --json | grep verdict
for bad in x 01a22c2f-473a-4574-9a5b-e1c6057e7352 01A22C2F-473A-7574-9A5B-E1C6057E7352 "$id"0 ""; do
	try run plan.json in.csv -o third.csv --run-id "$bad"
done

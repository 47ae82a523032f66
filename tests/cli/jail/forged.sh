. "$LIB"
ids() { sed -E 's/[0-9a-f]{8}([0-9a-f]{8})?/ID/g; s/event [0-9]+/event N/'; }
sql() { /usr/bin/python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.close()' "$1" "$2"; }
fresh() { rm -f try.db*; sql "$DTX_STORE" "VACUUM INTO 'try.db'"; }
try() { sql try.db "$1"; dtx run plan.json --store try.db -o - 2>&1 | sed '/^  at /d' | ids; }
printf 'k,v\na,1\n' > in.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv"}],"steps":[{"op":"frobnicate"}]}' > plan.json
printf 'def transform(tables, params):\n    df = tables["main"].copy()\n    df["w"] = df["v"] * 2\n    return df\n' > double.py
dtx snippet add double.py --plan plan.json in.csv 2> /dev/null
id=$(dtx snippet list | cut -c1-8)
echo '# approved in the table alone'
fresh
try "UPDATE pipeline_cell_provenance SET state='approved'"
dtx store rebuild --store try.db > /dev/null
dtx run plan.json --store try.db -o - 2>&1 | head -1 | ids
dtx snippet approve "$id"
echo '# approved'
fresh
try ""
echo '# other code for what was approved'
try "UPDATE pipeline_cell_provenance SET code_hash=replace(code_hash,'0','1')"
fresh
echo '# other columns, other flags'
try "UPDATE pipeline_cell_provenance SET needs=NULL"
fresh
try "UPDATE pipeline_cell_provenance SET flags='[\"clock\"]'"
fresh
echo '# an approval that is not in the chain'
try "DROP TRIGGER ledger_u; UPDATE ledger SET body=replace(body,'\"by\":','\"By\":') WHERE kind='snippet.approved'"
fresh
try "DROP TRIGGER ledger_u; UPDATE ledger SET hash=zeroblob(32) WHERE kind='snippet.pending'"
echo '# the same, longer ago than a run looks back'
fresh
for i in $(seq 12); do dtx convert in.csv --store try.db -o copy.csv -q; done
try "DROP TRIGGER ledger_u; UPDATE ledger SET body=replace(body,'\"by\":','\"By\":') WHERE kind='snippet.approved'"
echo '# a run of before, with other code'
printf 'def transform(tables, params):\n    df = tables["main"].copy()\n    df["w"] = df["v"] * 3\n    return df\n' > triple.py
dtx run plan.json -o out.csv
dtx run plan.json --namespace other --snippet triple.py -o /dev/null
fresh
dtx replay "$(dtx provenance out.csv --json | sed -n 's/.*"short": *"\([0-9a-f]*\)".*/\1/p' | head -1)" --store try.db > /dev/null && echo "the same"
sql try.db "UPDATE pipeline_cell_provenance SET code_hash=(SELECT code_hash FROM pipeline_cell_provenance WHERE namespace='other')"
dtx replay "$(dtx provenance out.csv --json | sed -n 's/.*"short": *"\([0-9a-f]*\)".*/\1/p' | head -1)" --store try.db 2>&1 | sed '/^  at /d' | ids
echo '# revoked, and approved again in the table alone'
dtx snippet revoke "$id"
fresh
try "UPDATE pipeline_cell_provenance SET state='approved'"

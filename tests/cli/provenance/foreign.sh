. "$LIB"
sql() { /usr/bin/python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.close()' "$1" "$2"; }
printf 'k,v\na,1\n' > in.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv"}],"steps":[{"op":"limit","n":1}]}' > plan.json
dtx run plan.json -o out.csv
sql "$DTX_STORE" "VACUUM INTO 'kept.db'"
for what in "CREATE TRIGGER more AFTER INSERT ON run BEGIN DELETE FROM run_check; END" \
	"CREATE VIEW more AS SELECT load_extension('x')" \
	"ALTER TABLE run RENAME TO runs; CREATE VIEW run AS SELECT * FROM runs" \
	"CREATE VIRTUAL TABLE more USING fts5(a)" \
	"DROP TRIGGER ledger_u; CREATE TRIGGER ledger_u BEFORE UPDATE ON ledger BEGIN SELECT 1; END"; do
	echo "# $what"
	rm -f try.db*
	cp kept.db try.db
	sql try.db "$what"
	dtx run plan.json --store try.db -o out.csv || echo "exit $?"
	dtx snippet list --store try.db 2> /dev/null || echo "exit $?"
	dtx verify --store try.db | grep -c schema_differs
	dtx store rebuild --store try.db > /dev/null
	dtx verify --store try.db | head -1 | cut -d: -f1
	dtx run plan.json --store try.db -o out.csv
done

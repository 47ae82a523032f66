. "$LIB"
# A run is not added to a ledger that was changed near its end.
sql() { /usr/bin/python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.close()' "$1" "$2"; }
printf 'k,v\na,1\n' > in.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv"}],"steps":[{"op":"limit","n":1}]}' > plan.json
dtx run plan.json -o /dev/null && dtx run plan.json -o /dev/null
sql "$DTX_STORE" "VACUUM INTO 'kept.db'"
for what in "UPDATE ledger SET ts_us=ts_us+1 WHERE seq=4" "UPDATE ledger SET hash=zeroblob(32) WHERE seq=(SELECT max(seq) FROM ledger)" \
	"DELETE FROM ledger WHERE seq=2" "UPDATE ledger SET hash=x'00' WHERE seq=(SELECT max(seq) FROM ledger)"; do
	rm -f try.db*
	cp kept.db try.db
	triggers=$(/usr/bin/python3 -c 'import sqlite3; print(";".join(s for s, in sqlite3.connect("kept.db").execute("SELECT sql FROM sqlite_master WHERE type=\"trigger\"")))')
	sql try.db "DROP TRIGGER ledger_u; DROP TRIGGER ledger_d; $what; $triggers"
	echo "# $what"
	dtx run plan.json --store try.db -o out.csv 2>&1 || true
	ls out.csv 2> /dev/null || echo "no output"
done

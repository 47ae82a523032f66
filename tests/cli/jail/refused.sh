# Runs and snippets that are there, and do not have what is asked for.
. "$LIB"
refused() { echo "--- $*" | ids; "$DTX" "$@" 2> err || echo "exit $?"; ids < err; }
ids() { sed -E 's/\b[0-9a-f]{8}\b/ID/g'; }
last() { dtx provenance log --limit 1 | cut -c1-8; }
printf 'region,ok,hours,note\nN,y,5,a\nS,y,7,b\nN,n,9,c\n' > h.csv
echo '[{"op": "sums"}]' > sums.json
cat > sums.py <<'END'
def transform(tables, params):
    return tables["main"].groupby("region", sort=False).hours.sum().reset_index()
END
echo '[{"op": "group_by", "by": ["region"], "agg": {"hours": "sum(hours)"}}]' > typed.json
dtx convert h.csv c.csv
refused prompt "$(last)"
mkdir gone
(cd gone && dtx run ../typed.json ../h.csv -o t.csv)
rm -r gone
refused prompt "$(last)"
dtx run typed.json nowhere.csv -o none.csv 2> /dev/null || echo "exit $?"
refused why "$(last)" A1
dtx run sums.json h.csv --snippet sums.py -o s.csv
id=$(dtx snippet list | cut -c1-8)
refused snippet show "$id" --checks
dtx run typed.json h.csv -o t.csv
# a store that somebody wrote into: the results are not what they were said to be
/usr/bin/python3 - <<'END'
import os, re, sqlite3
c = sqlite3.connect(os.environ["DTX_STORE"])
c.execute("DROP TRIGGER ledger_u")
for seq, body in c.execute("SELECT seq, body FROM ledger WHERE kind = 'run.output'").fetchall():
    c.execute("UPDATE ledger SET body = ? WHERE seq = ?", (re.sub(r'("table_hash": ?"t1:)..', r"\1zz", body), seq))
c.commit()
END
echo >> t.csv
refused why "$(last)" B2
dtx snippet revoke "$id" > /dev/null
refused snippet adopt "$id" --rename hours=h --plan sums.json h.csv

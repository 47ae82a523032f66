. "$LIB"
# Row numbers that a run stored answer without a second run, of files that are gone too, and until they are purged.
short() { sed -E 's/run [0-9a-f]{8}/run ID/; s#[0-9]+ bytes#N bytes#g; s#( [0-9a-f]{8},?)+;# IDS;#' | sed "s|$PWD|DIR|"; }
printf 'k,v\nalpha,1\nbeta,20\nalpha,3\ngamma,4\nbeta,50\n' > in.csv
printf 'k,w\nalpha,2\nbeta,3\n' > w.csv
echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"w"}],"steps":[{"op":"filter","where":"v < 50"},
 {"op":"join","with":"w","on":["k"]},{"op":"group_by","by":["k"],"agg":{"s":"sum(v * w)"}}]}' > p.json
dtx run p.json in.csv w=w.csv -o out.csv -q --lineage rows
dtx provenance out.csv | grep -o 'file unchanged, lineage rows'
dtx provenance out.csv --json | grep '"lineage": "rows"'
dtx provenance stats | grep -o 'lineage  *1 blobs'
dtx why out.csv --row 1 --col s | short
dtx why out.csv --row 1 --col s --again | short
echo changed >> in.csv && rm w.csv
dtx why out.csv --key k=beta --col s | short
dtx why out.csv --row 2 --col s --json | short | grep -A 14 '"changed"'
dtx why-not out.csv L5 | short
dtx why-not out.csv L6 | short
dtx why-not out.csv w.csv!L2 | short
dtx why-not out.csv L60 || echo "exit $?"
dtx why out.csv --row 3 --col s || echo "exit $?"
dtx why out.csv --row 1 --col s --again || echo "exit $?"
rm out.csv
run=$(dtx provenance log | grep -oE '^[0-9a-f]{8}' | head -1)
dtx why "$run" --row 1 --col s | short
# no cell is in what is stored
/usr/bin/python3 - "$(dtx store path)" <<'E2'
import sqlite3, sys, zlib
data, = sqlite3.connect(sys.argv[1]).execute("SELECT data FROM blob WHERE kind = 'lineage'").fetchone()
plain = zlib.decompress(data[16:])
print(data[:8].decode(), int.from_bytes(data[8:16], "big") == len(plain), [w for w in (b"alpha", b"beta", b"gamma") if w in plain])
E2
dtx verify "$run" --record > verify.txt 2>&1 || dtx verify > verify.txt 2>&1 || cat verify.txt
dtx store gc --kinds lineage --older-than 0d --keep-last 0 | short
dtx store gc --kinds lineage --older-than 0d --keep-last 0 --apply | short
dtx why "$run" --row 1 --col s || echo "exit $?"
# a sheet, and columns that became rows
cp "$FIX/xlsx/report.xlsx" "$FIX/plans/utilisation.json" .
dtx run utilisation.json report.xlsx -o tidy.csv -q --lineage rows
rm report.xlsx
dtx why tidy.csv --row 1 --col "$(head -1 tidy.csv | cut -d, -f1)" | short
dtx why-not tidy.csv 'FY24!A9' | short
# rows that cannot be told apart are kept as such; what cannot be numbered is refused before anything is done
printf '[{"op":"transpose"}]' > t.json
printf 'k,x\na,1\nb,2\n' > t_in.csv
dtx run t.json t_in.csv -o t.csv --lineage rows
dtx why t.csv B2 | short
# row numbers cannot be followed through a transpose: the plan runs again
dtx why-not t.csv L2 | short
echo '{"dtx":1,"inputs":[{"name":"main","format":"csv","stream":true,"dialect":{"delimiter":","},"types":{"v":"int"}}],"steps":[{"op":"filter","where":"v > 0"}]}' > stream.json
printf 'v\n1\n' | dtx run stream.json - -o s.csv --lineage rows || echo "exit $?"
dtx replay tidy.csv 2>&1 | short || true

. "$LIB"
head -c 3000000 /dev/zero | tr '\0' a | gzip -9n > steep.csv.gz
dtx convert steep.csv.gz --to csv || echo "exit $?"
dtx convert steep.csv.gz --header-rows 0 --limit archive.ratio=5K --to csv | wc -c
# what it is made of so far is judged, not what stands behind
{ head -c 20000000 /dev/zero | tr '\0' a | gzip -9n; head -c 100000 /dev/urandom | gzip -1n; } > front.csv.gz
dtx convert front.csv.gz --to csv || echo "exit $?"
dtx convert "$FIX/xlsx/timesheet.xlsx" --limit archive.entries=3 || echo "exit $?"
dtx inspect "$FIX/xlsx/timesheet.xlsx" --limit archive.cells=20 || echo "exit $?"
dtx convert steep.csv.gz --limit archive.ration=5 || echo "exit $?"
dtx convert steep.csv.gz --limit archive.ratio=0 || echo "exit $?"
dtx convert steep.csv.gz --limit ratio || echo "exit $?"
printf '{"dtx":1,"inputs":[{"name":"main","archive":{"total":1000000}}],"steps":[{"op":"limit","n":1}]}' > p.json
dtx run p.json steep.csv.gz || echo "exit $?"
dtx run p.json --limit archive.total=4M --limit archive.ratio=5000 steep.csv.gz --header-rows 0 | wc -c
printf '{"dtx":1,"inputs":[{"name":"main","archive":{"ratoi":1,"ratio":"x"}}],"steps":[{"op":"limit","n":1}]}' > p.json
dtx check p.json || echo "exit $?"
printf '{"dtx":1,"limits":{"time_s":0},"steps":[{"op":"limit","n":1}]}' > t.json
printf 'a\n1\n' | dtx run t.json - || echo "exit $?"

. "$LIB"
# A place that cannot take the copy of the record is found before an output is seen.
printf 'k,v\na,1\n' > in.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv"}],"steps":[{"op":"limit","n":1}]}' > plan.json
for place in "--record /dev/full" "--record /proc/r.json" "--record none/r.json" "--head-file /dev/full"; do
	echo "# $place"
	dtx run plan.json -o out.csv $place 2>&1 | sed -E 's/\.[0-9a-f]{8}\.tmp/.RUN.tmp/' || true
	ls out.csv 2> /dev/null || echo "no output"
done
echo '# and one that can'
dtx run plan.json -o out.csv --record r.json --receipt --head-file heads
ls -A | grep -v '^\.store'
/usr/bin/python3 -c 'import json; json.load(open("r.json")); json.load(open("out.csv.dtx.json"))'
[ "$(stat -c '%b' r.json)" -lt 64 ] && echo "no more room than it needs"

. "$LIB"
# A time with an offset from UTC keeps it where it is untouched, and has a "Z" where it was computed.
printf 'id,at\n1,2024-03-05T09:00:00+02:00\n2,2024-03-05 23:30-01:00\n3,\n4,2024-03-06T00:00:00Z\n' > in.csv
for to in csv jsonl json md xlsx; do
	echo "# in.csv to $to"
	dtx convert in.csv -o out.$to
	if [ $to = xlsx ]; then dtx convert out.xlsx --to jsonl; else cat out.$to; fi
done
dtx convert out.jsonl -o again.csv && cmp in.csv again.csv
echo '# whole days of UTC come back from a workbook as times'
printf '{"at":"2024-03-05T00:00:00Z"}\n' | dtx convert - -o days.xlsx && dtx convert days.xlsx --to csv
echo '# derived'
set='"copy":"at","later":"date_add(at, 1, '"'hour'"')","day":"date_trunc(at, '"'day'"')","or":"coalesce(at, '"'2024-01-01T00:00:00'"')","text":"text(at)","hour":"hour(at)","after":"at > '"'2024-03-05T08:00:00Z'"'"'
plan() { printf '{"dtx":1,"inputs":[{"name":"main"},{"name":"other"}],"steps":[%s]}' "$1" > plan.json; }
printf '{"dtx":1,"steps":[{"op":"derive","columns":{%s}}]}' "$set" > plan.json
dtx run plan.json in.csv -o derived.jsonl && cat derived.jsonl
dtx run plan.json in.csv -o derived.xlsx && dtx convert derived.xlsx -o derived.csv && cat derived.csv
echo '# aggregates, several sizes of batches'
printf '{"dtx":1,"steps":[{"op":"sort","by":"-id"},{"op":"group_by","by":[],"agg":{"from":"min(at)","to":"max(at)","last":"last(at)","mode":"mode(at)"}}]}' > plan.json
every_size
echo '# offsets on some values alone make text, in one table and in two'
printf 'id,at\n1,2024-03-05T09:00:00+02:00\n2,2024-03-05T09:00:00\n' > mixed.csv
dtx convert mixed.csv --to jsonl
printf 'id,at\n5,2024-03-05T09:00:00\n' > other.csv
plan '{"op":"union","with":"other"}'
dtx run plan.json in.csv other=other.csv -o union.jsonl && cat union.jsonl
echo '# asked for by hand: they become times of UTC, with a note'
printf '{"dtx":1,"steps":[{"op":"derive","columns":{"t":"datetime(at)"}},{"op":"cast","types":{"at":"datetime"}}]}' > plan.json
dtx run plan.json mixed.csv -o cast.csv && cat cast.csv
printf '{"dtx":1,"steps":[{"op":"parse_date","cols":["at"],"type":"datetime"}]}' > plan.json
dtx run plan.json mixed.csv -o cast.csv && cat cast.csv
for in in in.csv out.jsonl mixed.csv mixed.jsonl; do
	[ -e $in ] || dtx convert mixed.csv -o mixed.jsonl
	echo "# declared as datetime: $in"
	printf '{"dtx":1,"inputs":[{"name":"main","types":{"at":"datetime"}}],"steps":[{"op":"derive","columns":{"copy":"at"}}]}' > plan.json
	dtx run plan.json $in -o declared.jsonl && cat declared.jsonl
done
echo '# declared, and a value after the first ones is not like them'
for kind in 'jsonl,Z,' 'jsonl,,Z' 'csv,Z,' 'csv,,Z' 'csv,Z,+02:00'; do
	to=${kind%%,*} late=${kind##*,} first=${kind#*,} first=${first%,*}
	awk -v z="$first" -v late="$late" 'BEGIN { print "id,at"; for (i = 0; i < 30000; i++)
		print i "," (i == 3 ? "2024-03-05T09:00:00" z : i == 29990 ? "2024-03-06T10:00:00" late : "") }' > late.csv
	[ $to = csv ] || dtx convert -q late.csv -o late.$to --read types='{"at":"text"}'
	printf '{"dtx":1,"inputs":[{"name":"main","types":{"at":"datetime"}}],"steps":[{"op":"derive","columns":{"copy":"at","next":"date_add(at, 1, '"'"'hour'"'"')"}},{"op":"filter","where":"at is not null"}]}' > plan.json
	echo "$kind"
	dtx run plan.json late.$to 2> said || echo "exit $?"
	grep -v 'dtx prompt' said >&2 || :
done
echo '# one that is in UTC already stays so'
printf '{"dtx":1,"steps":[{"op":"cast","types":{"at":"datetime"}},{"op":"parse_date","cols":["at"],"type":"datetime"}]}' > plan.json
dtx run plan.json in.csv -o cast.csv && cat cast.csv
dtx eval "date_add(datetime('2024-03-05T09:00:00+02:00'), 1, 'day')"
dtx inspect in.csv | grep 'datetime\|  to '

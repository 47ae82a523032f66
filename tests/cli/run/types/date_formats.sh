# a format says each part of a date once; offsets and nine digits of a second are read, none is lost
. "$LIB"
printf 'd,n\n3/9/2021 5:07:08 PM,1\n3/10/2021 11:00:00 AM,2\n' > in.csv
run() {
	echo "$1" > plan.json
	dtx run -q --fallback off plan.json ${2:-in.csv} -o - 2>&1 | grep -v '^  next: .*--fallback'
}
run '[{"op":"parse_date","cols":["d"],"formats":["%m/%d/%Y %I:%M:%S %p"],"type":"datetime"}]'
for bad in '%m/%d/%Y %H:%M:%S %p' '%m/%d/%Y %I:%M:%S PM' '%m/%d/%Y %m %H:%M:%S' '%d/%M/%Y' '%m/%d/%Y %Z'; do
	run '[{"op":"parse_date","cols":["d"],"formats":["'"$bad"'"],"type":"datetime"}]'
	run '[{"op":"cast","types":{"d":{"type":"datetime","format":"'"$bad"'"}}}]'
	run '[{"op":"derive","set":{"t":"datetime(d, '"'$bad'"')"}}]'
	run '[{"op":"derive","set":{"t":"format_date('"'2021-03-09', '$bad'"')"}}]'
	run '{"dtx":1,"inputs":[{"name":"main","types":{"d":{"type":"datetime","format":"'"$bad"'"}}}],"steps":[{"op":"limit","n":1}]}'
done

# offsets as PostgreSQL, git and ISO 8601 write them: without a format, by %z, and in an order
printf 't\n2021-03-09 05:07:08+02\n2021-03-09 05:07:08.250000000+0230\n2021-03-09T05:07:08 -01:00\n2021-03-09T05:07Z\n' > zones.csv
run '[{"op":"derive","set":{"h":"hour(t)"}}]' zones.csv
run '[{"op":"parse_date","cols":["t"],"order":"ymd","type":"datetime"}]' zones.csv
printf 't\n09.03.2021 05:07 +02\n09.03.2021 05:07 -0230\n' > zones.csv
run '[{"op":"parse_date","cols":["t"],"formats":["%d.%m.%Y %H:%M %z"],"type":"datetime"}]' zones.csv

# digits that a datetime does not keep: the column stays text, and is no datetime
printf 't\n2021-03-09 05:07:08.123456789\n' > fine.csv
run '[{"op":"derive","set":{"u":"upper(t)"}}]' fine.csv
run '[{"op":"cast","types":{"t":"datetime"}}]' fine.csv
run '[{"op":"parse_date","cols":["t"],"type":"datetime"}]' fine.csv
run '[{"op":"parse_date","cols":["t"],"formats":["%Y-%m-%d %H:%M:%S.%f"],"type":"datetime"}]' fine.csv
printf 't\nTue 09.03.2021\nWed 09.03.2021\n' > days.csv
run '[{"op":"parse_date","cols":["t"],"formats":["%a %d.%m.%Y"]}]' days.csv

# a format reads the text of a cell, though the reader took the cell for an ISO date; a workbook's date is one
printf 'd,z\n2021-03-09,2021-03-09 05:07:08+02\n' > iso.csv
dtx convert -q iso.csv -o iso.xlsx
one='"day_first":"date(d, '"'%Y-%d-%m'"')"'
run '[{"op":"derive","set":{'"$one"',"utc":"datetime(z, '"'%Y-%m-%d %H:%M:%S%z'"')"}}]' iso.csv
run '[{"op":"derive","set":{'"$one"'}}]' iso.xlsx
run '[{"op":"cast","types":{"z":{"type":"datetime","format":"%Y-%m-%d %H:%M:%S%z"}}},
	{"op":"parse_date","cols":["d"],"formats":["%Y-%d-%m"]}]' iso.csv

# %Y needs four digits, and 23 is a year of %y: in a step, a formula, and the type of an input
printf 'd,n\n17.8.2023,1\n5.9.23,2\n' > short.csv
run '[{"op":"parse_date","cols":["d"],"formats":["%d.%m.%Y"]}]' short.csv
run '[{"op":"cast","types":{"d":{"type":"date","format":"%d.%m.%Y"}}}]' short.csv
run '{"dtx":1,"inputs":[{"name":"main","types":{"d":{"type":"date","format":"%d.%m.%Y"}}}],"steps":[{"op":"limit","n":5}]}' short.csv
run '[{"op":"derive","set":{"d":"coalesce(try(date(d, '"'%d.%m.%Y'"')), date(d, '"'%d.%m.%y'"'))"}}]' short.csv

# a column of several formats: the step that the error offers reads all of it, if the table is one that it can be known for
. "$LIB"
read_as() { # MEMBERS
	parse='{"op":"parse_date","cols":["due day"],'"$1"'}'
	echo "[$parse]" > plan.json
	dtx run --fallback off plan.json in.csv 2> err.txt || grep -E '^dtx|next:' err.txt
	step=$(sed -n 's/.*a step before reads each: //p' err.txt)
	[ -n "$step" ] || return 0
	echo "[$step,$parse]" > plan.json
	dtx run --fallback off plan.json in.csv
}
printf 'due day;n\n17.08.2023;1\n2023-09-05;2\n;3\n' > in.csv
read_as '"order":"dmy"'
read_as '"formats":["%d.%m.%Y","%Y-%m-%d"]'
printf 'due day;n\n17.8.2023;1\n5.9.23;2\n"Oct 7, 2023";3\n' > in.csv
read_as '"formats":["%d.%m.%Y"]'
echo '# 03/04 would fit both orders; a text that is no date; a time'
printf 'due day;n\n03/04/2023;1\n10/31/2023;2\n' > in.csv
read_as '"order":"dmy"'
printf 'due day;n\n03/04/2023;1\nsoon;2\n' > in.csv
read_as '"order":"dmy"'
printf 'due day;n\n03/04/2023 10:00;1\n2023-09-05;2\n' > in.csv
read_as '"order":"dmy","type":"datetime"'

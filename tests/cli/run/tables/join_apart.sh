. "$LIB"
# a join that finds no match at all says so, with keys of both sides
printf 'city,n\nBerlin,1\nHamburg,2\n' > in.csv
printf 'town,f\nHAMBURG,1\nBERLIN,2\n' > case.csv
printf 'town,f\nParis,1\nBerlin,2\n' > some.csv
printf 'town,f\nParis,1\n' > none.csv
printf 'town,f\n' > empty.csv
try() { # STEP OTHER
	echo "$1 $2" >&2
	printf '{"dtx":1,"inputs":[{"name":"main"},{"name":"other"}],"steps":[%s]}' "$1" > plan.json
	dtx run plan.json in.csv other="$2"
}
ON='"with":"other","on":{"left":"city","right":"town"}'
try '{"op":"join",'"$ON"'}' case.csv
try '{"op":"semi_join",'"$ON"'}' none.csv
try '{"op":"right_join",'"$ON"'}' none.csv
try '{"op":"lookup_value","value":"f","as":"f","on_missing":"null",'"$ON"'}' none.csv
try '{"op":"left_join",'"$ON"'}' none.csv
try '{"op":"full_join",'"$ON"'}' none.csv
# no warning: one row matches; rows without a match are asked for; an empty table
try '{"op":"join",'"$ON"'}' some.csv
try '{"op":"anti_join",'"$ON"'}' none.csv
try '{"op":"join",'"$ON"'}' empty.csv

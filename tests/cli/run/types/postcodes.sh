# text keys with leading zeros and keys that were read as ints: numbers would drop the zeros, so texts are what is advised
. "$LIB"
printf 'zip,n\n01067,1\n10115,2\n80331,3\n' > orders.csv
printf 'code,town\n10115,Berlin\n80331,Munich\n' > towns.csv
plan() { # MEMBER
	echo '{"dtx":1,"inputs":[{"name":"main","path":"orders.csv"},{"name":"towns","path":"towns.csv"'"$1"'}],
	"steps":[{"op":"join","with":"towns","on":[{"left":"zip","right":"code"}],"how":"left"}]}' > plan.json
	dtx run plan.json 2>&1 | grep -v '^  or let'
}
plan ''
plan ',"types":{"code":"text"}'

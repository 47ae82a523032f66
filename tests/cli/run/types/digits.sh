. "$LIB"
# A number that has too many digits for its type: the next step names the type that holds it, if there is one.
into() {
	printf 'p,k\n%s,x\n' "$2" > in.csv
	echo '{"dtx":1,"steps":[{"op":"cast","types":{"p":"'"$1"'"}}]}' > plan.json
	dtx run plan.json in.csv --fallback off 2> err.txt || grep -e '^dtx:' -e next err.txt
}
into 'decimal(10,2)' 1.005
into 'decimal(10,3)' 1.005
into 'decimal(4,2)' 123.45
into 'decimal(5,2)' 123.45
into int 99999999999999999999
into 'decimal(38,2)' 10000000000000000000000000000000000000000
into int 1.5

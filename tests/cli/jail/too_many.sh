. "$LIB"
# more assumptions than are checked, and more variables that may hold keys than can be kept from an author
printf 'a\n1\n' > in.csv
echo '{"dtx":1,"steps":[{"op":"zap"}]}' > plan.json
list() { seq "$1" | sed "s/.*/$2/"; }
{
	echo 'ASSUMES = ['
	list 65 "    'a > -&',"
	printf ']\n\n\ndef transform(tables, params):\n    return tables["main"]\n'
} > snippet.py
dtx run plan.json in.csv --snippet snippet.py -o out.csv || echo "exit $?"
env $(list 1025 'SERVICE&_API_KEY=abcdefgh&') "$DTX" run plan.json in.csv --author cat -o out.csv || echo "exit $?"
[ ! -e out.csv ] && echo "nothing was written"

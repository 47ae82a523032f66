. "$LIB"
# Cells, names and files that would steer a terminal are spelled out on one, whichever command shows them; a pipe gets the bytes.
export TERM=dumb # without colours, whose escapes would count
e=$(printf '\033[8m') b=$(printf '\342\200\256') c=$(printf '\302\233')
f="in${e}1.csv"
printf 'id,city%s,n%s\n1,Oslo%s,2\n2,%sRome%s,x\n' "$e" "$b" "$e" "$b" "$c" > "$f"
cp "$f" in.csv
echo '{"dtx":1,"inputs":[{"name":"main"}],"steps":[{"op":"sort","by":["-id"]}]}' > plan.json
steers() { LC_ALL=C grep -c -e "$(printf '\033')" -e "$b" -e "$c" || true; }
shown() {
	script -qc "$DTX $*" /dev/null < /dev/null > screen.txt 2>&1 || true
	echo "$* | lines $(($(wc -l < screen.txt) > 0)), that steer $(steers < screen.txt)" | sed "s,$(printf "\\033"),,g; s,$b,,g"
}
shown inspect in.csv
shown inspect "'$f'"
shown inspect "'$f'" --plan
shown convert "'$f'" --progress json
shown run plan.json "'$f'" --verbose
shown explain plan.json "'$f'"
shown check plan.json "'$f'"
shown suggest "'$f'"
dtx run -q plan.json "$f" -o out.csv && shown provenance out.csv
shown why out.csv B2
shown replay out.csv
shown eval "\"'a$b'\""
shown run plan.json "'${f}x'"
dtx convert in.csv --to csv -q > out.txt && cmp out.txt in.csv && echo "a pipe gets the bytes"
echo "# names of a plan"
try() {
	printf '{"dtx":1,"steps":[%s]}' "$1" > p.json
	dtx run p.json in.csv 2>&1 > /dev/null && echo "exit 0" || echo "exit $?"
}
try '{"op":"tidy\n  reads nothing\u001b[8m"}'
try '{"op":"so\u200brt","by":["id"]}'
try '{"op":"derive","set":{"a\u001b[8mb":"1"}}'
try '{"op":"rename","map":{"id":"a\u202eb"}}'
try '{"op":"rename","map":{"id":"two\nlines"}}'
echo "# the lists of inspect have the colours of tables"
printf 'city,n\nOslo,2\nRome,\n' > in.csv
colours() { script -qc "$DTX inspect in.csv" /dev/null < /dev/null | tr -d '\r' | sed "s/$(printf '\033')\[\([0-9]*\)m/<\1>/g" | grep "$1"; }
TERM=xterm colours '^<1>columns\|^<1>profile\|^<1>first\|^  n  .* 1\|^<1>read as'
TERM=xterm NO_COLOR=1 colours '^columns\|^profile'
dtx inspect in.csv | grep -c "$(printf '\033')" || true
echo "# a line feed in a name makes no line of its own"
printf '[{"n\\nrows  int  2 of 2 values":1}]' > in.json
dtx inspect in.json | sed -n '/^columns/,/^$/p'

. "$LIB"
# a report replaces no file without --force, and never one that it is about
printf 'a\n1\n' > in.csv
echo '[{"op":"derive","set":{"b":"a + 1"}}]' > plan.json
echo old > old.html
dtx run plan.json in.csv -o out.csv
cksum in.csv plan.json out.csv old.html > before
try() {
	echo "$*" >&2
	dtx "$@" && echo "exit 0" || echo "exit $?"
}
for force in "" --force; do
	try provenance out.csv --html out.csv $force
	try provenance out.csv --html in.csv $force
	try provenance out.csv --html plan.json $force
	try provenance out.csv --html .store.db $force
done
try provenance out.csv --html old.html
try provenance out.csv --force
cksum in.csv plan.json out.csv old.html | cmp - before
try provenance out.csv --html new.html
try provenance out.csv --html old.html --force
cmp old.html new.html && head -c 15 new.html
# results of a replay, files of a program
try replay out.csv --into .
cat out.csv

. "$LIB"
# a file that is there is replaced by -o or with --force, not by a second name or a report
printf 'a\n1\n' > a.csv
printf 'a\n2\n' > b.csv
printf 'a\n3\n' > c.csv
: > empty.csv
try() {
	echo "$*" >&2
	dtx "$@" && echo "exit 0" || echo "exit $?"
}
try convert a.csv b.csv
cat b.csv
try convert [abc].csv
try convert 'a.csv' 'a.csv' --force
try convert '[ab].csv' -o b.csv
try convert '[ab].csv' b.csv --force
cat a.csv b.csv
try convert a.csv new.csv
try convert c.csv empty.csv
cat new.csv empty.csv
try convert c.csv b.csv --force
cat b.csv
try convert a.csv -o b.csv
cat b.csv
try convert a.csv /dev/null
try run plan.json a.csv --force
# what comes to the name while the input is read stays
mkfifo slow.csv
{ cat a.csv; cp c.csv meanwhile.csv; } > slow.csv &
try convert slow.csv meanwhile.csv
wait
cat meanwhile.csv

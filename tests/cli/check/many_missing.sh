. "$LIB"
# Of very many columns that are not there 200 are named, the others counted.
printf 'a,b\n1,2\n' > in.csv
{
	printf '[{"op":"select","cols":["a"'
	for i in $(seq 1000 1249); do printf ',"missing_%s"' "$i"; done
	printf ']}]\n'
} > plan.json
"$DTX" check plan.json in.csv 2> said.txt || echo "exit $?"
head -4 said.txt
grep -c missing_column said.txt
tail -2 said.txt

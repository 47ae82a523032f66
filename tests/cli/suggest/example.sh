# With an example: names are taken from it, equality folds blanks, numbers and words for nothing, and a plan is sure only if
# it makes the whole example.
. "$LIB"
steps() { # INPUT EXAMPLE: the best plan's steps, and why
	echo "== $1 $2"
	dtx suggest "$1" --to "$2" --json > found.json || return 0
	/usr/bin/python3 -c 'import json
best = json.load(open("found.json"))[0]
print("  ", "sure" if best["sure"] else "not sure", best["evidence"])
for s in best["plan"]["steps"]: print("  ", json.dumps(s))'
}
printf 'team,Jan,Feb,Mar\nA,1,2,3\nB,4,,6\n' > wide.csv
printf 'who,when,much\nA,Jan,1.0\nA,Feb,2.00\nA,Mar," 3"\nB,Jan,4\nB,Feb,NaN\nB,Mar,6\n' > long.csv
printf 'team,month,hours\nA,Jan,1\nA,Feb,2\n' > piece.csv
printf 'A,Jan,1\nA,Feb,2\nA,Mar,3\nB,Jan,4\nB,Feb,\nB,Mar,6\n' > bare.csv
cp wide.csv same.csv
for e in long piece bare same; do steps wide.csv $e.csv; done
dtx suggest wide.csv --to piece.csv > plan.json
printf 'North\nAnn,15\nBob,20\nSouth\nCid,35\n' | sed 's/^\([A-Z][a-z]*\)$/\1,/' > bare_titles.csv
printf 'North,Ann,15\nNorth,Bob,20\nSouth,Cid,35\n' > bare_titled.csv
steps bare_titles.csv bare_titled.csv

. "$LIB"
# One file that runs where pandas is and dtx is not, and gives what dtx gives.
mkdir away
away() { (cd away && env -i /usr/bin/python3 -I "$@"); }
cat > plan.json <<'END'
{"dtx": 1, "inputs": [{"name": "main", "types": {"id": "text", "day": "date"}},
                      {"name": "names", "null_values": ["-"]}],
 "steps": [{"op": "left_join", "with": "names", "on": "k"},
           {"op": "derive", "set": {"left": "left(id, 2)", "half": "round(n / 2, 1)", "month": "month(day)"}},
           {"op": "window", "by": ["label"], "order": ["day"], "set": {"sofar": "sum(n)", "place": "row_number()"}},
           {"op": "filter", "where": "half > 1 or label is null"}],
 "output": {"delimiter": "\t"}}
END
printf 'id;k;n;day\n007;a;3.5;2024-02-01\n12;b;;2024-01-31\n"1;3";"";7.25;2024-01-01\n9;a;2.5;2024-01-03\n' > main.csv
printf 'k,label\na,first\nb,-\n"","say ""hi"""\n' > names.csv
dtx run -q plan.json main.csv names=names.csv -o dtx.tsv
dtx compile plan.json > away/guessed.py
dtx compile plan.json main.csv names=names.csv > away/found.py
for program in guessed found; do
	away $program.py ../main.csv ../names.csv ../$program.tsv && cmp dtx.tsv $program.tsv && echo "$program: the same bytes"
done
away found.py ../main.csv ../names.csv | cmp - dtx.tsv && cat dtx.tsv
grep -cE '^(import|from) ' away/found.py
grep -E '^(import|from) ' away/found.py | grep -vE '^import (datetime|decimal|fractions|itertools|math|os|re|sys|calendar|hashlib|json|unicodedata|numpy as np|pandas as pd)$' || echo "all of Python, but for numpy and pandas"
echo "# it holds no more of dx than it needs"
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "limit", "n": 1}]}' > short.json
dtx compile short.json > away/short.py
grep -cE '^def (group_by|join|window|fn)\(' away/short.py || true
grep -cE '^def (group_by|join|window|fn)\(' away/found.py
echo "# an error leaves the old result; what dtx may read in another way is refused"
echo old > away/out.csv
try() {
	printf "$1" > away/in.csv
	away short.py in.csv out.csv || echo "exit $?, $(cat away/out.csv)"
}
try 'a;b,c\n1;2,3\n'
try 'a,a\n1,2\n'
try 'a,2024\n1,2\n'
try 'a,b\n1\n'
try 'a,b\n1,x"y\n'
try ''
try 'a\n\200\n'
try 'PK\003\004'
away short.py || echo "exit $?"
away short.py nosuch.csv || echo "exit $?"
ls away
printf 'b,a\n1,2\n' > other.csv
printf 'a,b\n1,2\n' > away/in.csv
dtx compile short.json other.csv > away/other.py
away other.py in.csv || echo "exit $?"
echo "# how the input is read, where a program does not do it"
for member in '"skip":2' '"range":"A1:B2"' '"ragged":"pad"' '"dialect":{"decimal":","}' '"dialect":{"comment":"#"}' '"header_rows":2'; do
	echo '{"dtx": 1, "inputs": [{"name": "main", '"$member"'}], "steps": [{"op": "limit", "n": 1}]}' > m.json
	dtx compile m.json > /dev/null || echo "exit $?"
done
printf '[{"a":1}]' > in.json
dtx compile short.json in.json || echo "exit $?"
dtx compile --to snippet short.json in.json | tail -n 5

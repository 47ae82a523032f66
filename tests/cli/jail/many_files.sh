. "$LIB"
# a step that a snippet does has the same table whether one file or several hold its rows
printf 'k,v\nN,5\nS,7\nN,9\n' > all.csv
mkdir parts
for i in 1 2 3; do { echo k,v; sed -n "$((i + 1))p" all.csv; } > "parts/p$i.csv"; done
cat > plan.json <<'END'
{"dtx":1,"steps":[{"op":"filter","where":"v > 5"},{"op":"sums"},{"op":"sort","by":["k"]}]}
END
cat > sums.py <<'END'
def transform(tables, params):
    return tables["main"].groupby("k", sort=False).v.sum().reset_index()
END
dtx prompt plan.json all.csv -q > one.txt
dtx prompt plan.json 'parts/*.csv' -q | cmp - one.txt && echo "same prompt"
dtx run plan.json 'parts/*.csv' -o out.csv 2> err.txt || echo "exit $?"
plain < err.txt
dtx run plan.json 'parts/*.csv' -o out.csv --snippet sums.py --approve require 2> err.txt || echo "exit $?"
plain < err.txt
dtx snippet approve "$(dtx snippet list | cut -c1-8)" > said.txt
dtx run plan.json 'parts/*.csv' -o out.csv --cache-only -q --snapshot-inputs
cat out.csv
dtx run plan.json all.csv --snippet sums.py -q -o - | cmp - out.csv && echo same
dtx why out.csv --row 1 --col v | sed 1,2d
dtx provenance out.csv --html page.html -q && grep -c 'p3.csv' page.html
dtx verify out.csv -q > said.txt && echo verified
rm -r parts
dtx replay out.csv -q | plain | sed 1d
# the number of the step is that of the plan
dtx run plan.json all.csv --lineage rows -o rows.csv || echo "exit $?"
# the source's column of one file is a step of its own, which the plan does not have
dtx run plan.json all.csv --source-file file --lineage rows -o rows.csv || echo "exit $?"
# stored row numbers name the plan's steps
echo '[{"op":"filter","where":"v > 5"},{"op":"sort","by":["k"]}]' > plain.json
cp all.csv b.csv
dtx run plain.json '[ab]*.csv' --lineage rows -o rows.csv -q
dtx why-not rows.csv 'b.csv!A2' | plain || echo "exit $?"

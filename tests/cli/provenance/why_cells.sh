. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/'; }
plan() { echo "{\"dtx\": 1, \"inputs\": [{\"name\": \"main\"}], \"steps\": [$1]}" > p.json; }
printf 'id,x_2020,x_2021\na,1,2\nb,3,4\n' > wide.csv
long='{"op": "pivot_longer", "cols": ["x_2020", "x_2021"], "names_to": ["y"]'
# of two columns made rows the one that the name tells, through steps that keep the name
plan "$long}, {\"op\": \"derive\", \"set\": {\"double\": \"value * 2\"}}"
dtx run p.json wide.csv -o o.csv
dtx why o.csv --row 2 --col double | id
plan "$long, \"names_prefix\": \"x_\", \"names_types\": {\"y\": \"int64\"}}"
dtx run p.json wide.csv -o o.csv
dtx why o.csv --row 2 --col value | id
# the name is made anew, is that of another row, is a part of it: it tells nothing
plan "$long}, {\"op\": \"derive\", \"set\": {\"y\": \"if(y == 'x_2020', 'x_2021', 'x_2020')\"}}"
dtx run p.json wide.csv -o o.csv
dtx why o.csv --row 2 --col value | id
plan "$long}, {\"op\": \"group_by\", \"by\": [\"id\"], \"agg\": {\"s\": \"sum(value)\", \"y\": \"first(y)\"}}"
dtx run p.json wide.csv -o o.csv
dtx why o.csv --row 2 --col s | id
plan "$long, \"names_pattern\": \"x_([0-9]+)\"}"
dtx run p.json wide.csv -o o.csv
dtx why o.csv --row 2 --col value | id
# a name of two parts, each in a column
plan '{"op": "pivot_longer", "keep": ["id"], "names_to": ["w", "y"], "names_sep": "_", "names_types": {"y": "int"}}'
dtx run p.json wide.csv -o o.csv
dtx why o.csv --row 2 --col value | id
# a result without a header, a column of no source, a column that some rows do not come from
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "derive", "set": {"c": "1 + 1"}}],
 "output": [{"path": "bare.csv", "header": false}]}' > bare.json
dtx run bare.json wide.csv
dtx why bare.csv A2 | id
dtx why bare.csv D1 | id
echo '{"dtx": 1, "inputs": [{"name": "main"}, {"name": "more"}], "steps": [{"op": "union", "with": "more"}]}' > p.json
dtx run p.json wide.csv more=wide.csv -o o.csv
dtx why o.csv B4 | id
# a cell that a fill gave its value; a key that either side of a join gives
printf 'k,v\na,1\nb,\n' > gaps.csv
plan '{"op": "fill", "cols": ["v"]}'
dtx run p.json gaps.csv -o o.csv
dtx why o.csv B3 | id
echo '{"dtx": 1, "inputs": [{"name": "main"}, {"name": "more"}], "steps": [
 {"op": "join", "with": "more", "using": ["k"], "how": "full"}]}' > p.json
printf 'k,w\nz,5\n' > other.csv
dtx run p.json gaps.csv more=other.csv -o o.csv
dtx why o.csv A4 | id
# several rows of one line
echo '[{"k": "a", "v": 1}, {"k": "b", "v": 7}, {"k": "a", "v": 5}]' > line.json
plan '{"op": "group_by", "by": ["k"], "agg": {"s": "sum(v)"}}'
dtx run p.json line.json -o o.csv
dtx why o.csv B2 | id
dtx why o.csv B2 --json | grep '"value"'
# what a terminal would act on, in a name and in a value
printf '\033[2Jk,v\na\342\200\256b,1\n' > marks.csv
dtx convert marks.csv -o o.csv
dtx why o.csv A2 | id
# a workbook is cited by its own cells
echo '{"dtx": 1, "steps": [{"op": "filter", "where": "v > 1"}],
 "output": [{"path": "o.xlsx", "sheet": "Kept rows"}, {"path": "bare.xlsx", "header": false}]}' > p.json
printf 'k,v\na,1\nb,2\n' > in.csv
dtx run p.json in.csv
dtx why o.xlsx B2 | id | head -1
dtx why bare.xlsx --row 1 --col k | id | head -1
# a sheet is named as in formulas
echo '[{"op": "derive", "set": {"w": "v * 2"}}]' > again.json
dtx run again.json o.xlsx -o again.csv -q
dtx why again.csv --row 1 --col w | id
for place in "o.xlsx!'Kept rows'!A2" "o.xlsx!Kept rows!A2" "'Kept rows'!A2" "Kept rows!A2"; do dtx why-not again.csv "$place" | id | head -2; done
dtx why-not again.csv "'Other rows'!A2" || echo "exit $?"
# two rows have the only cell that tells, as columns of a pivot may be lacking in fewer rows: all rows are made again
printf 'k,q,v\na,x,1\na,y,2\nb,x,3\n' > long.csv
printf 'k,x,y\na,1,9\n' > more.csv
echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"more"}],"steps":[{"op":"pivot_wider","in":"main","id":["k"],"names_from":["q"],
 "values_from":["v"],"names":["x","y"],"out":"w"},{"op":"union","in":"w","with":["more"]}]}' > both.json
dtx run both.json long.csv more=more.csv -o both.csv -q
for row in 1 3; do dtx why both.csv --row $row --col y | id | head -4; done
# groups of two tables with the same key, one below the other: a row is of one of them
echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"more"}],"steps":[{"op":"group_by","in":"main","by":["k"],"agg":{"s":"sum(v)"},"out":"g"},
 {"op":"group_by","in":"more","by":["k"],"agg":{"s":"sum(x)"},"out":"h"},{"op":"union","in":"g","with":["h"]}]}' > groups.json
dtx run groups.json long.csv more=more.csv -o groups.csv -q
for row in 1 3; do dtx why groups.csv --row $row --col s | id; done
# the same formula in both tables is the union's; two formulas are none
sed 's/sum(x)/sum(v)/; s/"sum(v)"},"out":"g"/"sum(v)","n":"count()"},"out":"g"/; s/"sum(v)"},"out":"h"/"sum(v)","n":"max(v)"},"out":"h"/' groups.json > alike.json
sed 's/k,x,y/k,v,y/' more.csv > alike.csv
dtx run alike.json long.csv more=alike.csv -o alike_out.csv -q
dtx why alike_out.csv --row 3 --col s | id | head -3
dtx why alike_out.csv --row 3 --col n | id | head -2
# empty texts, nulls and a text that says null are three things
printf 'k,s\na,""\na,null\na,\na,x\n' > texts.csv
plan '{"op": "filter", "where": "s is null or s != '"'x'"'"}, {"op": "group_by", "by": ["k"], "agg": {"m": "min(s)", "n": "count(s)"}}'
dtx run p.json texts.csv -o texts_out.csv -q
dtx why texts_out.csv --row 1 --col m | id | head -4
dtx why texts_out.csv --row 1 --col n | id | sed -n 4p

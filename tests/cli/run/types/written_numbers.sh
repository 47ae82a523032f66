. "$LIB"
# One written step may stand for several, and an input of several files is a step more: errors, explain and the record count the
# steps as they are written.
printf 'a,b\n1,2\n,\nc,d\n3,x\n' > two.csv
cat > plan.json <<'END'
{"dtx":1,"inputs":[{"name":"main","header_rows":0,"path":"two.csv"}],"steps":[
 {"op":"split_tables","prefix":"t"},
 {"op":"promote_header","in":"t_2","out":"second"},
 {"op":"promote_header","in":"t_1"},
 {"op":"derive","set":{"n":"int(b)"}},
 {"op":"derive","in":"second","set":{"n":"int(d)"},"out":"numbers"},
 {"op":"union","with":["numbers"]}]}
END
dtx run plan.json --fallback off -o out.csv || echo "exit $?"
dtx explain plan.json 2> /dev/null | grep -E '^[0-9-]+ ' | cut -d' ' -f1,2
printf 'a\n1\n' > x1.csv
printf 'a\nx\n' > x2.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"x*.csv"}],"steps":[{"op":"limit","n":9},{"op":"derive","set":{"n":"int(a)"}}]}' > many.json
dtx run many.json --fallback off -o out.csv --errors=json 2>&1 | grep -o '"step":[0-9]'
dtx run many.json -o out.csv 2>&1 | grep -o '(step [^)]*)'
dtx explain many.json 'x*.csv' 2> /dev/null | grep -E '^[0-9-]+ ' | cut -d' ' -f1,2
dtx check many.json "x*.csv" > /dev/null 2>&1 || echo "check $?"
# a point that separates groups is none in JSON: 1.750 is 1750 there
printf 'part;weight;price\na;1.750;2,5\nb;3.001.750;12\n' > marks.csv
dtx convert -q marks.csv --read decimal=, --read group=. --to jsonl

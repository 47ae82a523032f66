. "$LIB"
# what the steps behind a snippet ask of its result: names that they make themselves are none of it, and a text function asks
# for no text where cells are seen as they are written
echo 'def transform(tables, params): return tables["main"]' > same.py
printf 'K 1,l,x,y\na,b,1,2\nc,d,3,4\n' > in.csv
printf 'k,x\na,7\n' > side.csv
try() {
	echo "# $1"
	echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv"},{"name":"side","path":"side.csv"}],"steps":[{"op":"custom"},'"$1"']}' > plan.json
	dtx run -q plan.json --snippet same.py || echo "exit $?"
}
try '{"op":"rename","regex":"^(.)","replace":"n_$1"},{"op":"filter","where":"n_x > 1"}'
try '{"op":"clean_names"},{"op":"filter","where":"k_1 == '"'a'"'"}'
try '{"op":"rename","map":{"K 1":"k"}},{"op":"join","with":"side","on":["k"]},{"op":"filter","where":"x_right > 1"}'
try '{"op":"filter","where":"l != '"'z'"'"},{"op":"pivot_longer","keep":["K 1","l"]},{"op":"limit","n":1,"by":["l"]},{"op":"filter","where":"floor(value) > 1"}'
try '{"op":"pivot_longer","keep":["K 1","l"],"names_to":[".value","part"],"names_pattern":"(.)(.*)"},{"op":"filter","where":"x > 1"}'
try '{"op":"filter","where":"not is_blank(x) and length(x) == 1 and contains(y, '"'4'"')"}'
try '{"op":"sort","by":["l","K 1","y"]},{"op":"drop","cols":[{"range":["l","y"]}]},{"op":"sort","by":["K 1"]}'
try '{"op":"rename","map":{"K 1":"k"}},{"op":"extract","col":"l","regex":"(.)","into":["a"],"keep":false},{"op":"add_id","as":"l"}'
echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv"},{"name":"side","path":"side.csv","types":[{"name":"x","type":"text"}]}],"steps":[{"op":"custom"},{"op":"join","with":"side","on":[{"left":"K 1","right":"k"}]},{"op":"derive","set":[{"as":"z","expr":"x + 1"}]}]}' > plan.json
dtx run -q plan.json --snippet same.py
# and what is asked
try '{"op":"filter","where":"abs(l) > 1"}'
try '{"op":"select","cols":["x","none"]}'
# many columns of an open table, of which nobody spoke before
keep=$(i=0; while [ $i -lt 300 ]; do printf '"c%d",' $i; i=$((i + 1)); done)
echo '{"dtx":1,"inputs":[{"name":"main"}],"steps":[{"op":"pivot_longer","keep":['"${keep%,}"']},{"op":"sort","by":["c299"]}]}' > plan.json
dtx check plan.json
# days are added to dates; more rows come from a snippet than batches have
awk 'BEGIN { print "d,n"; for (i = 1; i < 29; i++) printf "2024-01-%02d,%d\n", i, i }' > days.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"days.csv"},{"name":"side","path":"days.csv"}],"steps":[{"op":"custom"},{"op":"filter","where":"d + 1 > '"'2024-01-03'"'"},{"op":"join","how":"semi","with":"side","on":["n"],"indicator_as":"which"},{"op":"group_by","by":["which"],"agg":[{"as":"rows","expr":"count()"}]}]}' > plan.json
dtx run -q plan.json --snippet same.py --batch-rows 3

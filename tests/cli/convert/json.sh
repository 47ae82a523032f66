. "$LIB"
printf '{"id":12345678901234567890,"v":1.10,"l":[1, {"k":2}]}\n{"id":3,"v":2}\n' > big.jsonl
dtx convert big.jsonl --to jsonl -q
printf '[["name","n"],["a",1],["b",2.50]]' | dtx convert - --to csv
printf '{"name":["a","b"],"n":[1,2]}' | dtx convert - --to csv
printf '{"meta":{"n":2},"rows":[{"a":{"b":1}}]}' | dtx convert - --to csv
printf '{"a":1,"b":NaN}\n{"a":2}\nno record\n{"a":4\n{"a":5,"a":6}\n' > torn.jsonl
dtx convert torn.jsonl --to csv || echo "exit $?"
dtx convert --repair torn.jsonl --to csv
printf '{"dtx":1,"inputs":[{"name":"main","records":"/d/list","duplicate_keys":"first"}],"steps":[{"op":"limit","n":9}]}' > p.json
printf '{"d":{"list":[{"a":1,"a":2}]}}' | dtx run p.json -
printf '{"d":[]}' | dtx run p.json - || echo "exit $?"
echo '# an object that is a table says so, and how to say otherwise'
note() { echo "$1" > doc.json; echo "# $1"; dtx convert doc.json --to csv 2> note.txt; cat note.txt; }
note '{"columns":["a","b"],"index":["r","s"],"data":[[1,"x"],[2,"y"]]}'
note '{"p":{"name":"Ann","n":1},"q":{"name":"Bob","n":2}}'
note '{"a":{"0":1,"1":2},"b":{"0":"x","1":"y"}}'
note '{"a":[1,2],"b":["x","y"]}'
note '{"a":[1,2],"b":["x"]}'
note '{"hits":{"total":2,"hits":[{"a":1},{"a":2}]}}'
note '{"n":2,"data":{"a/b":[{"a":1}],"more":[{"z":1}]}}'
note '{"n":0,"rows":[]}'
note '{"name":"Ann","tags":["a","b"],"place":{"city":"Rome"}}'
echo '{"n":2,"by":{"p":{"k":1},"q":{"k":2}}}' > doc.json
dtx convert doc.json --to csv --read records=/by
dtx convert doc.json --to csv --read records=
dtx inspect doc.json > out.txt && grep "by.p" out.txt
echo '{"dtx":1,"steps":[{"op":"limit","n":9}]}' > p.json
dtx run p.json doc.json
echo '# what is nearly JSON is refused with what to do'
for text in '[{"a":1},{"a":2}' '{a:1}' '[{"a":1}] more' 'var x = [{"a":1}];' 'call([{"a":1}])' "[{'a':1}]"; do
	echo "$text" > bad.json
	dtx convert bad.json --to csv 2> err.txt || { grep -o 'line.*' err.txt; tail -1 err.txt; }
done
echo '# ... in JSON Lines, too'
for text in "[{'a': 1}, {'a': 2}]" '{"a":.5}' '{"a":True}' '{"a":1 "b":2}'; do
	echo "$text" > bad.jsonl
	dtx convert bad.jsonl --to csv 2> err.txt || { grep -o 'line.*' err.txt; tail -1 err.txt; }
done
echo '# a name has no byte 0'
printf '{"na\\u0000me":1,"name":2}\n' | dtx convert - --to csv

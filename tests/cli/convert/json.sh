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

. "$LIB"
# rules that look at other tables: of assert, of a step's expect and of the plan's
printf 'k,n\na,1\nb,2\n,3\n' > in.csv
printf 'c,v\na,4\nb,1\nz,1\n' > other.csv
try() {
	echo "{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"path\":\"in.csv\"},{\"name\":\"o\",\"path\":\"other.csv\"}],\"steps\":[$1],\"expect\":$2}" > plan.json
	dtx run plan.json -o out.csv && cat out.csv || echo "exit $?"
}
derive='{"op":"derive","set":{"q":"n * 1"}}'
try '{"op":"assert","rules":[{"rule":"relationship","col":"k","with":"o","to":"c"},{"rule":"equal_rows","with":"o"},{"rule":"sum_equals","col":"n","with":"o","to":"v"}]}' null
try "$derive" '{"rows":{"equals":"o"},"sums":[{"out":"q","in":"n"}],"rules":[{"rule":"relationship","col":"k","with":"o","to":"c"}]}'
try '{"op":"union","with":"o","out":"u"},{"op":"derive","set":{"q":"n + 1"},"expect":{"rows":{"equals":"main"},"sums":[{"out":"q","in":"n","tolerance":2}]}}' null
try "$derive" '{"rows":{"equals":"o"},"rules":[{"rule":"relationship","col":"q","with":"o","to":"v"}]}'
try '{"op":"filter","where":"n > 1","out":"f"},{"op":"limit","n":3,"expect":{"rows":{"equals":"f"}}}' null
# what is wrong with them is told before a row is read
try "$derive" '{"rules":[{"rule":"relationship","col":"k","with":"oo","to":"c"},{"rule":"equal_rows"}]}'
try "$derive" '{"rules":[{"rule":"relationship","col":"k","with":"o","to":"cc"}],"sums":[{"out":"q"},1]}'
try '{"op":"assert","rules":[{"rule":"sum_equals","col":"n","with":"o"},{"rule":"equal_rows","with":"oo"}]}' null
try '{"op":"assert","rules":[{"rule":"sum_equals","col":"n","value":6,"with":"o"},{"rule":"sum_equals","col":"n","value":6,"to":"v"}]}' null
try "$derive" '{"sums":{"out":"q","in":"n"}}'

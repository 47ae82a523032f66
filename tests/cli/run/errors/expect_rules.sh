. "$LIB"
printf 'k,n\na,1\nb,5\na,3\n' > in.csv
echo old > out.csv
try() {
	echo "{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"path\":\"in.csv\"}],\"steps\":[$1],\"expect\":$2,\"output\":{\"path\":\"out.csv\"}}" > plan.json
	dtx run plan.json || echo "exit $?"
	cat out.csv
}
pass='{"op":"filter","where":"n > 0"}'
try "$pass" '{"keys":["k"]}'
try "$pass" '{"order_by":"n"}'
try "$pass" '{"columns":[{"name":"k","matches":"^a"}]}'
try "$pass" '{"rules":[{"rule":"expression","expr":"n * 2 < 10"},{"rule":"sum_equals","col":"n","value":8}]}'
try '{"op":"assert","rules":[{"rule":"range","col":"n","max":4},{"rule":"unique","cols":"k"}]}' 'null'
try '{"op":"sort","by":"n","expect":{"rules":[{"rule":"sorted","by":"-n"}]}}' 'null'
try "$pass" '{"keys":["k","n"],"columns":[{"name":"k","matches":"^[ab]$"}],"rules":[{"rule":"sum_equals","col":"n","value":9},{"rule":"row_count","min":9,"severity":"warn"}]}'
# warnings have their place as errors have
try '{"op":"assert","rules":[{"rule":"range","col":"n","max":4,"severity":"warn"}]}' '{"rules":[{"rule":"unique","cols":"k","severity":"warn"}]}'

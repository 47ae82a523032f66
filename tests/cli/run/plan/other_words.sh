# steps as other tools spell them do what ours do
. "$LIB"
printf 'id,city,amount,day\n1,Rome,10.5,2024-01-05\n2,Oslo,,2024-02-07\n3,Rome,7,2024-02-20\n' > in.csv
steps() {
	echo "[$1]" > plan.json
	dtx run -q --fallback off plan.json in.csv -o -
}
same() {
	steps "$1" > one
	steps "$2" > other
	cmp -s one other && echo same || { echo "$1"; diff one other; }
}
same '{"op":"derive","name":"t","expr":"amount * 2"}' '{"op":"derive","set":{"t":"amount * 2"}}'
same '{"op":"mutate","column":"t","formula":"amount * 2","after":"id"}' '{"op":"derive","set":{"t":"amount * 2"},"after":"id"}'
same '{"op":"cast","column":"amount","to":"text"}' '{"op":"cast","types":{"amount":"text"}}'
same '{"op":"cast","columns":{"amount":"text"}}' '{"op":"cast","types":{"amount":"text"}}'
same '{"op":"cast","cols":["id","city"],"type":"int","on_error":"null"}' \
	'{"op":"cast","types":[{"name":"id","type":"int","on_error":"null"},{"name":"city","type":"int","on_error":"null"}]}'
same '{"op":"group_by","by":"city","agg":[{"column":"amount","func":"sum","as":"s"},{"col":"id","fn":"max"}]}' \
	'{"op":"group_by","by":["city"],"agg":{"s":"sum(amount)","id":"max(id)"}}'
same '{"op":"group_by","by":"city","agg":{"amount":["sum","mean"],"n":"count()","id":"max"}}' \
	'{"op":"group_by","by":["city"],"agg":{"amount_sum":"sum(amount)","amount_mean":"mean(amount)","n":"count()","id":"max(id)"}}'
same '{"op":"count","by":["city"]}' '{"op":"group_by","by":["city"],"agg":{"n":"count()"}}'
same '{"op":"count"}' '{"op":"group_by","by":[],"agg":{"n":"count()"}}'
same '{"op":"sort","by":["amount","id"],"desc":true}' '{"op":"sort","by":["-amount","-id"]}'
same '{"op":"sort","by":["amount","id"],"descending":[true,false]}' '{"op":"sort","by":["-amount","id"]}'
same '{"op":"sort","by":[{"column":"amount","order":"DESC"},{"col":"id","direction":"asc"}]}' '{"op":"sort","by":["-amount","id"]}'
same '{"op":"dropna","subset":["amount"]}' '{"op":"filter","where":"amount is not null"}'
same '{"op":"drop_nulls","columns":"amount"}' '{"op":"filter","where":"amount is not null"}'
same '{"op":"resample","on":"day","every":"month","agg":{"s":"sum(amount)"}}' '{"op":"resample","col":"day","every":"1mo","agg":{"s":"sum(amount)"}}'
same '{"op":"resample","col":"day","freq":"D","agg":{"n":"count()"}}' '{"op":"resample","col":"day","every":"1d","agg":{"n":"count()"}}'
same '{"op":"melt","id_vars":["id"],"value_vars":["city"],"var_name":"k","value_name":"v"}' \
	'{"op":"select","cols":["id","city"]},{"op":"pivot_longer","cols":["city"],"names_to":"k","values_to":"v"}'
same '{"op":"window","partition_by":"city","order_by":["id"],"set":{"r":"row_number()"}}' '{"op":"window","by":["city"],"order":["id"],"set":{"r":"row_number()"}}'
same '{"op":"filter","expr":"startswith(city, '"'R'"') and iif(id > 1, true, false)"}' '{"op":"filter","where":"starts_with(city, '"'R'"') and id > 1"}'
same '{"op":"assert","rules":[{"rule":"not_null","column":"id"}]}' '{"op":"assert","rules":[{"rule":"not_null","cols":["id"]}]}'
same '{"op":"assert","condition":"id > 0"}' '{"op":"assert","rules":[{"rule":"expression","expr":"id > 0"}]}'
# what is wrong is told where it is written
steps '{"op":"derive","name":"t","expr":"amount * nobody"}' || echo "exit $?"
steps '{"op":"cast","column":"nobody","to":"int"}' || echo "exit $?"
steps '{"op":"group_by","by":"city","agg":[{"column":"nobody","func":"sum"}]}' || echo "exit $?"
steps '{"op":"dropna"}' || echo "exit $?"
steps '{"op":"dropna","columns":[7]}' || echo "exit $?"
steps '{"op":"sort","by":["-amount"],"desc":true}' || echo "exit $?"
steps '{"op":"derive","name":"t","set":{"u":"1"}}' || echo "exit $?"
steps '{"op":"derive","set":{"u":"nvl2(1)"},"expr":"2"}' || echo "exit $?"
steps '{"op":"cast","column":7,"to":"int"}' || echo "exit $?"

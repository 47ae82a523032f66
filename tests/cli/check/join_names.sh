# a name that the right table loses by a join may be the left one's, of whose columns nobody spoke yet
. "$LIB"
printf 'id,customer,v\n1,7,5\n2,8,6\n' > orders.csv
printf 'id,name,active\n7,Ann,true\n8,Bob,false\n' > customers.csv
echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"c","path":"customers.csv"}],"steps":[{"op":"filter","in":"c","where":"active","out":"a"},
 {"op":"join","with":"a","on":[{"left":"customer","right":"id"}]},{"op":"select","cols":["id","name"]}]}' > plan.json
dtx check plan.json && dtx run plan.json orders.csv

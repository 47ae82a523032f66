. "$LIB"
# A slip of a known name is an error of the plan, exit 3, also where an author stands ready and approves all; "snippet": true
# says that the name is meant.
printf 'Order Date,region,quantity\n2024-01-05,N,2\n2024-02-06,S,3\n' > in.csv
asked() { DTX_AUTHOR='touch asked; cat same.py' DTX_APPROVE=auto dtx run plan.json in.csv -o out.csv; }
try() {
	echo "# $1"
	echo "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"}],\"steps\":[$1]}" > plan.json
	asked 2> err.txt && echo "exit 0" || echo "exit $?"
	grep -e '^dtx:' -e 'did you mean' err.txt
	dtx check plan.json in.csv > /dev/null 2>&1 && echo "check 0" || echo "check $?"
}
try '{"op":"fliter","where":"quantity > 2"}'
try '{"op":"Filter","where":"quantity > 2"}'
try '{"op":"filters","where":"quantity > 2"}'
try '{"op":"wheer","where":"quantity > 2"}'
try '{"op":"remove_duplicates"}'
try '{"op":"filter","were":"quantity > 2"}'
try '{"op":"filter","where":"rond(quantity) > 2"}'
try '{"op":"filter","where":"avrage(quantity) > 2"}'
try '{"op":"filter","where":"quantiy > 2"}'
try '{"op":"select","cols":["order_date"]}'
try '{"op":"select","cols":["Regions"]}'
try '{"op":"sort","by":"QUANTITY"}'
try '{"op":"limit","n":1,"in":"mian"}'
try '{"op":"join","with":"main","on":["region"],"how":"lefft"}'
echo '{"dtx":1,"inputs":[{"name":"main","requires":["Quantity"]}],"steps":[{"op":"limit","n":1}]}' > plan.json
asked || echo "exit $?"
ls asked 2> /dev/null || echo "nobody was asked"
echo '# a name that is like none of them, and one that is meant'
dtx check plan.json in.csv > /dev/null 2>&1 || echo "check $?"
echo '{"dtx":1,"steps":[{"op":"fliter","snippet":true,"where":"quantity > 2"}]}' > plan.json
dtx check plan.json in.csv || echo "check $?"
dtx check plan.json --canonical 2> /dev/null | grep -o '{"op":"fliter"[^}]*}' || true
dtx explain plan.json 2> /dev/null | grep -A1 fliter | head -2
echo '{"dtx":1,"steps":[{"op":"fliter","snippet":true,"fallback":"off"}]}' > plan.json
dtx check plan.json || echo "check $?"
echo '{"dtx":1,"steps":[{"op":"limit","snippet":1,"n":2}]}' > plan.json
dtx check plan.json || echo "check $?"
echo '# a function that is called with a blank or a hyphen'
for call in "starts with(item, 'a')" "replace-re(item, 'a', 'b')"; do
	echo "{\"dtx\":1,\"steps\":[{\"op\":\"derive\",\"set\":{\"x\":\"$call\"}}]}" > plan.json
	dtx run plan.json in.csv || echo "run $?"
	dtx check plan.json in.csv || echo "check $?"
done

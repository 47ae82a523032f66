. "$LIB"
# steps whose columns are found by a pattern, steps over two tables, names of ours
printf 'n,k,g\n1,a,x\n2,b,x\n3,c,y\n3,c,y\n' > main.csv
printf 'k,w\nz,0\nb,20\na,10\n' > o.csv
id() { sed -E 's/run [0-9a-f]{8}/run ID/'; }
try() { # column row steps
	echo "# $3"
	echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"o"}],"steps":['"$3"']}' > plan.json
	dtx run plan.json main=main.csv o=o.csv -o out.csv
	dtx why out.csv --row "$2" --col "$1" > why.txt || echo "exit $?"
	id < why.txt
}
try k 1 '{"op":"nullify","cols":["*"],"values":["1"]}'
try z_n 2 '{"op":"rename","regex":"^","replace":"z_"}'
try m 3 '{"op":"merge_columns","cols":["*"],"as":"m"}'
try n 3 '{"op":"distinct"}'
try value 3 '{"op":"pivot_longer","keep":["k","g"]}'
# what a formula took of a column before the pivot is not elsewhere; nor is a name what it was
try y 2 '{"op":"derive","set":{"y":"n + 1","v":"0"}},{"op":"pivot_longer","cols":["n","v"],"order":"cols"}'
try y 5 '{"op":"derive","set":{"y":"n + 1","v":"0"}},{"op":"pivot_longer","cols":["n","v"],"order":"cols"}'
try value 6 '{"op":"rename","map":{"k":"g","g":"k"}},{"op":"pivot_longer","cols":["k","g"],"order":"cols"}'
try w 2 '{"op":"lookup_value","with":"o","key":["k"],"value":"w","as":"w"}'
try n 2 '{"op":"join","with":"o","on":["k"],"how":"semi"}'
try y 3 '{"op":"pivot_wider","id":["k"],"names_from":["g"],"values_from":["n"],"agg":"sum"},{"op":"drop","cols":["x"]}'
# rows of one input that came by two ways
f='{"op":"filter","where":"n < 3","out":"f"}'
try n 3 "$f"',{"op":"filter","in":"main","where":"n > 2","out":"h"},{"op":"union","in":"f","with":"h"}'
try k 2 '{"op":"filter","where":"n == 1","out":"f"},{"op":"group_by","by":["g"],"agg":{"s":"sum(n)"}},{"op":"join","with":"main","on":["g"]}'
# a column of the groups made anew by the step that has them
try s 2 '{"op":"window","by":["g"],"set":{"g":"upper(g)","s":"sum(n)"}}'
try n_y 1 '{"op":"filter","where":"n > 1","out":"f"},{"op":"join","in":"main","with":"f","on":["g"],"suffix":"_y"}'
# rows that cannot be told apart
try n 1 '{"op":"select","cols":["k","n"]},{"op":"union","with":["o"],"by":"position"}'
try dtx_r0 1 '{"op":"derive","set":{"dtx_r0":"n"}}'
# rows that came by themselves and in a group: which of their cells count
g='{"op":"group_by","by":["g"],"agg":{"s":"sum(n)"},"out":"t"},{"op":"join","in":"main","with":"t","on":["g"]},{"op":"derive","set":{"c":"length(k) / s"}}'
for column in k n s c; do try "$column" 1 "$g"; done
# aggregates over other rows each are no one line
try x 1 '{"op":"window","by":["g"],"set":{"m":"sum(n)"}},{"op":"derive","set":{"x":"m - max(n)"}}'
# a table joined twice, and with itself: each cell is of the row that its own join found
printf 'id,name,boss,buddy\n1,Ann,,3\n2,Bob,1,3\n3,Cid,1,2\n' > emp.csv
echo '[{"op":"join","with":"main","on":[{"left":"boss","right":"id"}],"how":"left","suffix":"_boss"},
 {"op":"join","with":"main","on":[{"left":"buddy","right":"id"}],"how":"left","suffix":"_buddy"}]' > twice.json
dtx run twice.json emp.csv -o twice.csv -q
for col in name name_boss name_buddy; do dtx why twice.csv --row 2 --col $col | id; done

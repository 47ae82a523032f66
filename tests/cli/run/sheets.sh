# Several outputs of one plan are sheets of one workbook, which is written once, whole.
printf 'id,name,amt\n1,Ann,1.5\n2,Bob,2.25\n' > a.csv
cat > p.json << 'END'
{"dtx":1,"inputs":[{"name":"main","path":"a.csv"}],
 "steps":[{"op":"filter","where":"id > 0","out":"detail"},{"op":"group_by","by":[],"agg":{"s":"sum(amt)"}}],
 "output":[{"path":"o.xlsx","sheet":"Detail","table":"detail"},{"path":"x.csv"},{"path":"o.xlsx","sheet":"Total"}]}
END
"$DTX" run p.json
"$DTX" convert o.xlsx --sheet Detail -o -
"$DTX" convert o.xlsx --sheet Total -o -
cat x.csv
"$DTX" why o.xlsx C3 | sed -n '1s/ run .*//p'
"$DTX" why 'o.xlsx!total' A2 | sed 's/ run .*//'
"$DTX" why 'o.xlsx!none' A2 || echo "exit $?"
"$DTX" why-not 'o.xlsx!Detail' 'a.csv!L3' 2>&1 | sed -n 's/ run .*//; 1,2p'
"$DTX" replay o.xlsx | cut -d' ' -f1
"$DTX" verify o.xlsx | grep -c 'o.xlsx is as run'
"$DTX" provenance o.xlsx --json | grep -o '"sheet": "[A-Z][a-z]*"'
echo "--- another name, and names that do not go"
"$DTX" run p.json -o other.xlsx
"$DTX" convert other.xlsx --sheet Total -o -
"$DTX" run p.json -o one.csv || echo "exit $?"
for s in detail 'a/b'; do
	sed "s|\"Total\"|\"$s\"|" p.json > q.json
	"$DTX" run q.json || echo "exit $?"
done
sed 's|"Total"|"Total","as_table":true|' p.json > q.json
"$DTX" run q.json || echo "exit $?"
sed 's|x.csv|o.csv|; s|o.xlsx","sheet":"Total"|o.csv"|' p.json > q.json
"$DTX" run q.json || echo "exit $?"
ls -A | grep -v '^\.store'

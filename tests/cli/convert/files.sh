# Several files as one input: a pattern or a list, one below the other.
mkdir plan
printf 'a,b\n1,x\n2,y\n' > plan/m1.csv
printf 'b;a\nz;3.5\n' > plan/m2.csv
printf 'a,b\n007,q\n' > plan/m3.csv
printf 'a,c\n5,1\n' > plan/n.csv
echo '--- each file is sniffed alone, types are of all'
$DTX convert 'plan/m*.csv' --to csv
echo '--- with the name of each file'
$DTX convert 'plan/m*.csv' --to csv --source-file file
$DTX convert plan/m3.csv --to csv --source-file file
echo '--- columns: same'
$DTX convert 'plan/*.csv' --to csv || echo "exit $?"
echo '--- columns: union, intersect'
$DTX convert 'plan/*.csv' --to csv --columns union
$DTX convert 'plan/*.csv' --to csv --columns intersect
echo '--- refused'
$DTX convert 'plan/x*.csv' --to csv || echo "exit $?"
cp plan/m1.csv plan/out.csv
$DTX convert 'plan/*.csv' -o plan/out.csv || echo "exit $?"
cmp plan/m1.csv plan/out.csv
rm plan/out.csv
echo '--- a list in a plan, from its folder; recorded file by file, done again, cells named'
cat > plan/p.json <<'P'
{"dtx":1,"inputs":[{"name":"main","path":["n.csv","m?.csv"],"columns":"union","source_file":"file","types":{"a":"text"}}],
 "steps":[{"op":"filter","where":"a != '2'"},{"op":"derive","set":{"from":"concat(file, '!')"}}]}
P
$DTX run plan/p.json -o out.csv
cat out.csv
$DTX provenance out.csv --json | grep -o '"alias": *"[^"]*"' | sort -u
$DTX why out.csv A4 | sed -n '3,$p'
$DTX replay out.csv | sed -n 's/^\(identical *\).*/\1/p'
$DTX run plan/p.json 'main=plan/m[13].csv' --to csv
sed 's/"n.csv",/"n.csv","n.csv",/' plan/p.json > plan/q.json
$DTX run plan/q.json || echo "exit $?"
sed 's/\["n.csv".*"m?.csv"\]/[]/' plan/p.json > plan/q.json
$DTX check plan/q.json || echo "exit $?"
echo '--- not there: said, not ignored'
sed 's/"columns":"union"/"stream":true/' plan/p.json > plan/q.json
$DTX check plan/q.json || echo "exit $?"
echo '--- the one sheet whose name matches'
for like in '^FY' '^X' '.' '('; do
	echo '{"dtx":1,"inputs":[{"name":"main","sheet":{"regex":"'"$like"'"}}],"steps":[{"op":"limit","n":1}]}' > s.json
	$DTX run s.json "$FIX/xls/report.xls" --to csv || echo "exit $?"
done

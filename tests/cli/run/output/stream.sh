. "$LIB"
cat > plan.json <<'EOF'
{"dtx":1,"inputs":[{"name":"main","stream":true,"format":"csv","dialect":{"delimiter":","},
  "types":{"day":"date","n":"int"}}],
 "steps":[{"op":"filter","where":"n > 1"},{"op":"derive","set":{"m":"month(day)"}}]}
EOF
printf 'day,n,"note"\n2024-01-31,1,\n2024-02-29,2,"a ""b""\nc"\n2024-03-01,30,x\n' > in.csv
# a producer that gives one byte at a time
slow() { dd bs=1 status=none < "$1"; }
echo "# a column that is read has no type"
slow in.csv | dtx run plan.json - 2>&1 || echo "exit $?"
sed -i 's/"n":"int"/"n":"int","note":"text"/' plan.json
echo "# byte by byte"
slow in.csv | dtx run plan.json - -o out.csv
cat out.csv
dtx provenance out.csv | grep '^from' | grep -c "$(sha256sum in.csv | cut -c1-8)"
echo "# what passed cannot be replayed"
{ dtx replay out.csv 2>&1 || echo "exit $?"; } | sed -E 's/[0-9a-f]{8}/ID/g'
echo "# a misfit"
{ cat in.csv; echo 'today,3,x'; } | dtx run plan.json - 2>&1 || echo "exit $?"
echo "# enough is enough"
sed 's/"steps":.*/"steps":[{"op":"limit","n":2}]}/' plan.json > few.json
{ cat in.csv; while echo 2024-03-02,4,y; do :; done 2> /dev/null; } | dtx run few.json -
echo "# explained"
dtx explain plan.json in.csv | head -5
echo "# a file may pass as well"
dtx run plan.json in.csv -o file.csv
cmp out.csv file.csv && dtx replay file.csv | cut -d' ' -f1 | tail -1
echo "# read twice, refused"
cat > twice.json <<'EOF'
{"dtx":1,"inputs":[{"name":"main","stream":true,"format":"csv","dialect":{"delimiter":","},
  "types":{"day":"date","n":"int","note":"text"}}],
 "steps":[{"op":"join","with":"main","on":"n"}]}
EOF
dtx check twice.json 2>&1 || echo "exit $?"

. "$LIB"
ids() { sed -E 's/[0-9a-f]{64}/HASH/g; s/^(runs  *)[0-9a-f]{8}  [0-9a-f]{8}/\1ID  ID/; s/sha256 [0-9a-f]{8}/sha256 HASH/g; s/dtx run [0-9a-f]{8}, .*/dtx run ID, TIME/; s/dtx1:[0-9]+/dtx1:N/'; }
printf 'region,hours\nWest,40\nEast,30\nWest,80\n' > in.csv
printf 'region,headcount\nWest,4\nEast,2\n' > hc.csv
cat > util.json <<'E2'
{"dtx": 1, "name": "util", "inputs": [{"name": "main"}, {"name": "hc"}], "steps": [
 {"op": "filter", "where": "hours > 10"}, {"op": "group_by", "by": ["region"], "agg": {"hours": "sum(hours)"}},
 {"op": "join", "with": "hc", "using": ["region"]}, {"op": "derive", "set": {"u": "hours / (headcount * 40)"}}]}
E2
dtx run util.json in.csv hc=hc.csv -o a.csv
# the same again; another input; another plan, columns and all
dtx run util.json in.csv hc=hc.csv -o b.csv
dtx provenance diff a.csv b.csv | ids
printf 'North,9\nWest,20\n' >> in.csv
dtx run util.json in.csv hc=hc.csv -o c.csv
dtx provenance diff a.csv c.csv | ids
dtx provenance diff a.csv c.csv > /dev/null || echo "exit $?"
sed 's/"u": "hours/"use": "2 * hours/; s/> 10/> 5/' util.json > other.json
sed -i 's/"derive"/"rename", "map": {"headcount": "heads"}}, {"op": "derive"/; s/(headcount/(heads/' other.json
dtx run other.json in.csv hc=hc.csv -o d.csv
dtx provenance diff c.csv d.csv --json | ids | grep -E '"(part|what|verdict|row|column|text)"'
dtx provenance diff a.csv nix.csv || echo "exit $?"
dtx provenance diff a.csv || echo "exit $?"
# a line for a report
dtx provenance a.csv --cite u | ids
dtx provenance a.csv --cite region | ids
dtx provenance a.csv --cite nix || echo "exit $?"
# the log
echo '[{"op": "filter", "where": "nix > 1"}]' > bad.json
dtx run bad.json in.csv -o bad.csv --fallback off 2> /dev/null || echo "exit $?"
dtx provenance log --limit 2 | cut -c 33-
dtx provenance log --status failed | cut -c 33-
dtx provenance log --path snippet
dtx provenance log --namespace util --since 1d | wc -l
dtx provenance log --since 2099-01-01
for bad in "--status nix" "--path nix" "--since yesterday" "--cite u" "x y"; do dtx provenance log $bad || echo "exit $?"; done
dtx provenance a.csv --prov --code || echo "exit $?"
dtx provenance stats | grep -E '^runs'
# rows by the key of the plan: what one has, lacks, or has otherwise; no key, or none that tells one row, no rows
rows() { sed -n '/^rows by key/,$p'; }
printf 'k,n,v\na,1,10\na,2,20\nb,1,30\nc,1,\n' > was.csv
printf 'k,n,v\na,2,21\nb,1,30\nc,1,5\nd,7,1\na,3,9\n' > is.csv
echo '{"dtx": 1, "steps": [{"op": "filter", "where": "true"}], "expect": {"keys": ["k", "n"]}}' > keyed.json
echo '{"dtx": 1, "steps": [{"op": "filter", "where": "true"}]}' > plain.json
dtx run keyed.json was.csv -o k1.csv
dtx run keyed.json is.csv -o k2.xlsx
dtx diff k1.csv k2.xlsx | rows
dtx diff k1.csv k2.xlsx --json | tr -d ' \n' | grep -o '"rows":{.*'; echo
dtx run plain.json is.csv -o p.csv
dtx diff k1.csv p.csv | rows
awk 'BEGIN { print "k,n,v"; for (i = 0; i < 25; i++) print "x," i "," i }' > many.csv
dtx run keyed.json many.csv -o many_out.csv
dtx diff k1.csv many_out.csv | rows | sed -n '1p;$p'
rm k1.csv
dtx diff "$(dtx provenance log --namespace default --limit 4 | tail -1 | cut -c1-8)" many_out.csv | rows

. "$LIB"
# the steps that why adds keep to the limits of the plan, not to the defaults
awk 'BEGIN { print "k,n,v"; for (i = 0; i < 5000; i++) print "1,n" i "," i }' > in.csv
echo '{"dtx": 1, "inputs": [{"name": "main"}], "limits": {"pivot_cols": 6000},
  "steps": [{"op": "pivot_wider", "id": ["k"], "names_from": ["n"], "values_from": ["v"]}]}' > p.json
dtx run p.json in.csv -o out.csv -q
dtx why out.csv C2 | grep cells
dtx why-not out.csv 'in.csv!L3' | grep '^in '

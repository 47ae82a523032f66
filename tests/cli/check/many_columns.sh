. "$LIB"
# What a step costs grows with the number of its columns, not with its square: each takes a second or two here.
ulimit -t 12
n=30000
names() { seq -s , -f "$1" $n; }
{ names c%.0f; seq -s , $n; seq -s , $n; } > wide.csv
try() {
	echo "{\"dtx\": 1, \"limits\": {\"cols\": 70000}, \"steps\": [$2]}" > plan.json
	(dtx run plan.json wide.csv -o out.csv -q --memory 1G && wc -l < out.csv && cut -d , -f "1,$3" out.csv | head -2) > got 2>&1 || echo "exit $?" >> got
	echo "$1: $(tr '\n' ' ' < got)"
}
list() { echo "[$(names '"c%.0f"')]"; }
try fill "{\"op\": \"fill\", \"cols\": $(list)}" 30000
try assert "{\"op\": \"assert\", \"rules\": [$(seq 1 $n | sed 's/.*/{"rule": "not_null", "col": "c&"}/' | paste -sd ,)]}" 30000
try window "{\"op\": \"window\", \"by\": [\"c1\"], \"set\": {$(seq 1 $n | sed 's/.*/"w&": "sum(c&)"/' | paste -sd ,)}}" 60000

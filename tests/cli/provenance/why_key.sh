# a row by a key: the text of a cell, or where the column has numbers their value
. "$LIB"
printf 'x,n,t\n1.5,1,1.50\n2.50,2,2\n-3,30,x\n' > in.csv
echo '[{"op":"derive","set":{"y":"x * 2","d":"decimal(x, 6, 3)"}}]' > plan.json
dtx run -q plan.json in.csv -o out.csv
for key in x=1.50 x=1.5 x=2.5 x=2.50 y=3 y=3.0 y=-6.00 n=30.0 d=1.5 t=1.5 t=1.50 n=1e0 n=one; do
	printf '%s: ' $key
	dtx why out.csv --key $key --col n 2>&1 | sed 's/  run .*//; 1!d'
done
# several cells at once: a comma before the name of a column, else one of the text
printf 'k,n,v\na,1,5\n"a,b",1,6\na,2,7\n' > in.csv
echo '[{"op":"filter","where":"v > 5"}]' > plan.json
dtx run -q plan.json in.csv -o out.csv
for key in k=a,n=2 k=a,b k=a,b,n=1 'n=2,k=a' k=a,n=1 k=,n=1; do
	printf '%s: ' "$key"
	dtx why out.csv --key "$key" --col v 2>&1 | sed 's/  run .*//; 1!d'
done
dtx why-not out.csv --key k=a,n=1 | sed -E 's/run [0-9a-f]{8}/run ID/'
dtx why-not out.csv --key v=8 || echo "exit $?"
dtx why-not out.csv --key k=a,n=7 --key v=5 || echo "exit $?"

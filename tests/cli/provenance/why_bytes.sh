. "$LIB"
printf 'k,v\na,1\nb,2\na,3\n' > in.csv
echo '[{"op":"group_by","by":["k"],"agg":{"s":"sum(v)"}}]' > p.json
dtx run p.json in.csv -o out.csv -q
dtx why out.csv --row 1 --col s | sed -E 's/run [0-9a-f]{8}/run ID/'
# other bytes, with the size and the time of the recorded ones: the result is the same, the cells are not
cp -p in.csv was.csv
printf 'k,v\na,3\nb,2\na,1\n' > in.csv
touch -r was.csv in.csv
dtx why out.csv --row 1 --col s || echo "exit $?"
dtx why-not out.csv --row 2 || echo "exit $?"
cp -p was.csv in.csv
touch in.csv
dtx why out.csv --row 1 --col s | sed -E 's/run [0-9a-f]{8}/run ID/'

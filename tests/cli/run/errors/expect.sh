. "$LIB"
printf 'n\n1\n2\n' > in.csv
echo '{"dtx":1,"steps":[{"op":"filter","where":"n > 5"}],"expect":{"rows":{"min":1}}}' > plan.json
echo old > out.csv
dtx run plan.json in.csv -o out.csv || echo "exit $?"
cat out.csv

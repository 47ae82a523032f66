. "$LIB"
# A cell that a promise about the result cannot read is no fault of the file: no author is asked to read the file.
printf 'k,v\na,1\nb,x2\n' > in.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv"}],"steps":[{"op":"filter","where":"k > '"''"'"}],"expect":{"rules":[{"rule":"expression","expr":"int(v) > 0"}]}}' > plan.json
dtx run plan.json -o out.csv --author "cat > asked; echo nothing" || echo "exit $?"
ls

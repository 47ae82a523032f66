. "$LIB"
# What was written is gone, or is another by now, or is one of several results.
printf 'k,v\na,1\nb,2\na,5\n' > in.csv
cat > p.json <<'P'
{"dtx":1,"steps":[{"op":"filter","where":"v > 1","out":"f"},
 {"op":"group_by","in":"f","by":["k"],"agg":{"s":"sum(v)"},"out":"g"}],
 "output":[{"path":"f.csv","table":"f"},{"path":"g.csv","table":"g"}]}
P
dtx run p.json in.csv
run=$(dtx provenance log | cut -c 1-8)
id() { sed -E "s/$run/RUN/g; s/[0-9a-f]{64}/HASH/; s/  [0-9-]{10} .*//" ; }
dtx why $run --row 1 --col s 2>&1 | id
echo 'c,9' >> g.csv
dtx why g.csv --row 1 --col s 2>&1 | id
dtx provenance g.csv | sed -n 1,4p | id
dtx diff f.csv g.csv 2>&1 | id
rm g.csv
dtx why g.csv --row 1 --col s 2>&1 | sed -n 1p | id
dtx provenance g.csv | sed -n 1,4p | id

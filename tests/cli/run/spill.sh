# work beyond --memory goes to an unlinked temp file: same bytes, named in the record
. "$LIB"
awk 'BEGIN { print "i,k,t"; for (i = 0; i < 200000; i++) print i "," (i * 7919) % 100003 ",text number " i % 977 }' > big.csv
echo '[{"op":"sort","by":["-k","t"]}]' > sort.json
dtx run -q sort.json big.csv -o whole.csv --memory 1G
mkdir tmp
TMPDIR=$PWD/tmp dtx run -q sort.json big.csv -o less.csv --memory 16M --threads 2
cmp whole.csv less.csv && echo same
ls tmp
dtx provenance less.csv --json | grep -c '"spilled"'
TMPDIR=$PWD/none dtx run -q sort.json big.csv -o no.csv --memory 16M || echo "exit $?"
[ ! -e no.csv ]

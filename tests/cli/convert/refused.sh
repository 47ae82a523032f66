. "$LIB"
printf '\320\317\021\340\241\261\032\341' > a.xls
printf 'PAR1' > b.parquet
printf 'PK\003\004broken' > c.xlsx
for f in a.xls b.parquet c.xlsx; do dtx convert $f -o out.csv || echo "$f: exit $?"; done
ls
# a header with a broken quote makes no names, whoever reads it
printf '"a"b,c\n1,2\n' > h.csv
echo '{"dtx":1,"inputs":[{"name":"main","reader":"libcsv","dialect":{"quote":"\""}}],"steps":[{"op":"limit","n":2}]}' > h.json
sed 's/"reader":"libcsv",//' h.json > g.json
for p in g.json h.json; do dtx run $p h.csv --fallback off --to csv || echo "$p: exit $?"; done

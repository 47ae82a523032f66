. "$LIB"
printf '\320\317\021\340\241\261\032\341' > a.xls
printf 'PAR1' > b.parquet
printf 'PK\003\004broken' > c.xlsx
for f in a.xls b.parquet c.xlsx; do dtx convert $f -o out.csv || echo "$f: exit $?"; done
ls

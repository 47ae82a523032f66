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
# tables in the syntax of other programs are named, not read as columns that are none
other() { printf -- "$2" > "$1"; dtx convert "$1" || echo "exit $?"; }
other ins.sql "INSERT INTO t (id, name) VALUES (1, 'Ann');\nINSERT INTO t (id, name) VALUES (2, 'Bob');\n"
other dump.sql "-- MySQL dump 10.13\nCREATE TABLE t (\n  id int\n);\n"
other pg.txt "--\n-- PostgreSQL database dump\n--\n"
other t.tex '\\begin{tabular}{ll}\nid & name \\\\\n1 & Ann \\\\\n\\end{tabular}\n'
other t.adoc '|===\n|id |name\n|1 |Ann\n|===\n'
other wiki.txt '{| class="wikitable"\n! id !! name\n|-\n| 1 || Ann\n|}\n'
other t.arff '@RELATION t\n@ATTRIBUTE id NUMERIC\n@ATTRIBUTE v NUMERIC\n@DATA\n1,x,5\n2,y,6\n'
dtx convert t.arff --from csv --skip 4 --header-rows 0
dtx convert ins.sql --from csv

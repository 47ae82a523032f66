. "$LIB"
printf 'id,name,x,day,ok,at,price\n1,ann,1.5,2024-01-01,true,2024-01-01T10:00:00Z,12.50\n2,,,,,,\n3,"b ""q"" é",-2.25,1999-12-31,false,1969-12-31T23:59:59.5Z,-0.05\n' > a.csv
echo '{"dtx":1,"inputs":[{"name":"main","types":[{"name":"price","type":"decimal(20,2)"}]}],"steps":[{"op":"limit","n":9}],
  "output":{"path":"p.parquet","codec":"snappy"}}' > p.json
# every type, there and back
dtx run -q p.json a.csv && dtx convert p.parquet -
dtx inspect --json p.parquet | grep snappy
# names of the format; to a pipe; the same bytes for any number of threads
dtx convert -q a.csv a.parquet && dtx convert -q a.csv a.pq && cmp a.parquet a.pq
dtx convert a.csv --to parquet | cmp - a.parquet
for n in 1 2 7; do dtx convert -q a.csv --to parquet --threads $n | cmp - a.parquet; done
dtx convert a.csv -o a.parquet.gz || echo "exit $?"
# tables without rows, of one column, of many, and with a text of 10 MB
head -1 a.csv > none.csv && dtx convert -q none.csv none.parquet && dtx convert none.parquet -
printf 'one\n1\n' | dtx convert - one.parquet && dtx convert one.parquet -
seq -s, 300 | sed 's/[0-9]*/c&/g' > wide.csv && seq -s, 300 >> wide.csv && seq -s, 300 | sed 's/\b[0-9]*7\b//g' >> wide.csv
dtx convert -q wide.csv wide.parquet && dtx convert wide.parquet - | cmp - wide.csv
(echo a,b; seq 1400000 | tr '\n' - | head -c 10000000; echo ,1; echo y,2) > long.csv
dtx convert -q long.csv long.parquet && dtx convert long.parquet - --limit archive.text=100M | cmp - long.csv
# more than one row group; those after the first are found
(echo n,m; seq 1100000 | awk '{ print $1 "," $1 % 7 }') > n.csv
dtx convert -q n.csv n.parquet && dtx convert n.parquet - | cmp - n.csv
dtx convert n.parquet - --threads 8 | cmp - n.csv
dtx inspect --json n.parquet | grep row_groups
dtx pipe -q n.parquet -- filter 'n > 1050000 and m = 3' > found && dtx pipe -q n.csv -- filter 'n > 1050000 and m = 3' | cmp - found
# lists stay JSON, and a column without values stays one
echo '{"a":[1,{"b":null}],"c":null}' | dtx convert - --from jsonl -o l.parquet -q
dtx convert -q l.parquet again.parquet && dtx convert again.parquet --to jsonl && rm again.parquet
dtx inspect --json l.parquet | tr -d ' \n' | grep -o '"name":"[ac]"[^}]*"type":"[a-z]*"'
# texts of 12 MB that are nearly equal are packed to nearly nothing
head -c 600000 /dev/zero | tr '\0' x > x && (echo a; for i in $(seq 20); do cat x; echo $i; done) > equal.csv
dtx convert -q equal.csv equal.parquet && dtx convert equal.parquet - | cmp - equal.csv
rm x equal.csv equal.parquet
# a copy has the same bytes
for f in a n wide l; do dtx convert -q $f.parquet again.parquet --force && cmp $f.parquet again.parquet; done; rm found again.parquet
# lists are JSON texts
dtx convert l.parquet -
# a result that cannot be written leaves the file as it was
cp a.parquet before.parquet
dtx convert -q long.csv /dev/full --to parquet || echo "exit $?"
(ulimit -f 2000; trap '' XFSZ; dtx convert -q long.csv -o a.parquet) || echo "exit $?"
cmp a.parquet before.parquet
# without its library a codec is refused before anything is written
box="bwrap --dev-bind / / --ro-bind /dev/null $(readlink -f "$(ldconfig -p | sed -n 's/.*libzstd.so.1 .*=> //p' | head -1)")"
printf 'dtx: output_io: the output is compressed with zstd, whose library is not installed\n' > want
! $box true 2> /dev/null || ! $box "$DTX" convert -q a.csv -o a.parquet --force 2> got || echo "no error"
[ ! -e got ] || head -1 got | cmp - want
cmp a.parquet before.parquet && rm -f got want
# members that mean nothing to it are named; so is a codec that there is not
echo '{"dtx":1,"steps":[{"op":"limit","n":1}],"output":{"path":"o.parquet","delimiter":";"}}' > o.json
dtx run o.json a.csv
sed 's/"delimiter":";"/"codec":"lzo"/' o.json > lzo.json && dtx run lzo.json a.csv || echo "exit $?"
# a program of pandas writes CSV
dtx compile --to pandas p.json a.csv || echo "exit $?"
dtx compile --to snippet p.json a.csv | tail -1
ls

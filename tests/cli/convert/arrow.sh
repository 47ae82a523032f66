. "$LIB"
printf 'id,name,x,day,ok,at,price\n1,ann,1.5,2024-01-01,true,2024-01-01T10:00:00Z,12.50\n2,,,,,,\n3,"b ""q"" é",-2.25,1999-12-31,false,1969-12-31T23:59:59.5Z,-0.05\n' > a.csv
echo '{"dtx":1,"inputs":[{"name":"main","types":[{"name":"price","type":"decimal(20,2)"}]}],"steps":[{"op":"limit","n":9}],
  "output":{"path":"p.arrow","codec":"zstd"}}' > p.json
# every type, there and back; the file says how it is packed
dtx run -q p.json a.csv && dtx convert p.arrow -
dtx inspect --json p.arrow | grep zstd
# what others wrote: all types, and files packed with LZ4 and zstd
dtx convert "$FIX/arrow/types.arrow" -
for f in polars-lz4.arrow polars-lz4.arrows polars-zstd.feather; do dtx convert "$FIX/arrow/$f" - | cksum; done
# a file and, to a pipe, a stream; the same bytes for any number of threads
dtx convert -q a.csv a.arrow && dtx convert -q a.csv a.feather && cmp a.arrow a.feather && head -c 6 a.arrow && echo
dtx convert -q a.csv a.arrows && dtx convert a.csv --to arrow | cmp - a.arrows
dtx convert a.csv --to arrow | dtx convert -
for n in 1 2 7; do dtx convert -q a.csv --to arrow --threads $n | cmp - a.arrows; done
# tables without rows, of many rows and columns
head -1 a.csv > none.csv && dtx convert -q none.csv none.arrow && dtx convert none.arrow -
(echo n,m,s; seq 150000 | awk '{ print $1 "," $1 % 7 ",text " $1 % 11 }') > n.csv
dtx convert -q n.csv n.arrow && dtx convert n.arrow - | cmp - n.csv
dtx inspect --json n.arrow | grep record_batches
dtx pipe -q n.arrow -- filter 'n > 149990 and m = 3' > found && dtx pipe -q n.csv -- filter 'n > 149990 and m = 3' | cmp - found
# a copy has the same bytes
for f in a n; do dtx convert -q $f.arrow again.arrow --force && cmp $f.arrow again.arrow; done
# many equal values in one record batch; a column of the type null stays one
dtx convert "$FIX/arrow/polars-constant.feather" - | sort | uniq -c
dtx pipe -q a.csv -o nothing.arrow -- derive nothing=null && dtx convert -q nothing.arrow again.arrow --force && cmp nothing.arrow again.arrow
dtx inspect nothing.arrow | grep 'nothing .*null '
# lists are JSON texts
echo '{"a":[1,{"b":null}],"c":null}' | dtx convert - --from jsonl --to arrow | dtx convert - --from arrow
# a file that is not whole, two streams, Feather of version 1, types that cannot be read
head -c 500 a.arrow > cut.arrow && dtx convert cut.arrow - || echo "exit $?"
head -c 500 a.arrows > cut.arrows && dtx convert cut.arrows - || echo "exit $?"
cat a.arrows a.arrows > two.arrows && dtx convert two.arrows - || echo "exit $?"
printf 'FEA1............' > old.feather && dtx convert old.feather - || echo "exit $?"
dtx convert "$FIX/arrow/refused.arrow" - || echo "exit $?"
echo '{"dtx":1,"steps":[{"op":"select","cols":["n","m"]}]}' > s.json && dtx run -q s.json "$FIX/arrow/refused.arrow" -o -
# other codecs are refused before anything is written
sed 's/"zstd"/"snappy"/' p.json > snappy.json && dtx run snappy.json a.csv -o o.arrow || echo "exit $?"
ls

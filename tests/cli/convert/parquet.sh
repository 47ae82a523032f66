. "$LIB"
dtx convert "$FIX/parquet/types.parquet" --to csv | head -3
# nulls, what is not a number, and numbers that only a decimal holds
dtx pipe -q "$FIX/parquet/types.parquet" -- filter 'id in [4, 5]' then select id,huge,f64,place
# only the columns that are needed are read: types that dtx lacks do no harm in others
dtx convert "$FIX/parquet/refused.parquet" --to csv || echo "exit $?"
dtx pipe -q "$FIX/parquet/refused.parquet" -- select id
dtx pipe "$FIX/parquet/refused.parquet" -- select ns
dtx pipe -q "$FIX/parquet/refused.parquet" -- select raw || echo "exit $?"
# structs are columns, lists and maps JSON texts
dtx pipe -q "$FIX/parquet/nested.parquet" -- select id,list,lists,s.b.c,m,structs then head 4
dtx pipe -q "$FIX/parquet/nested.parquet" -- filter 'id = 7' then explode list json=true then select id,list
# a declared type
echo '{"dtx":1,"inputs":[{"name":"main","types":[{"name":"day","type":"text"},{"name":"tiny","type":"float"}]}],
  "steps":[{"op":"filter","where":"tiny < -18"},{"op":"select","cols":["day","tiny"]}]}' > p.json
dtx run p.json "$FIX/parquet/types.parquet" --to csv
# damage: what and where
head -c 6000 "$FIX/parquet/types.parquet" > cut.parquet
(printf 'PAR1\377\377\377\377'; tail -c +9 "$FIX/parquet/types.parquet") > bad.parquet
printf 'PARE' | cat - "$FIX/parquet/types.parquet" | head -c 3000 > e; (cat e; printf 'PARE') > secret.parquet
for f in cut bad secret; do dtx convert $f.parquet -o out.csv || echo "$f: exit $?"; done
dtx convert "$FIX/parquet/types-snappy.parquet" -o out.csv --limit archive.text=10 || echo "exit $?"
ls
# a datetime of UTC that is declared as a datetime stays one of UTC
echo '{"dtx":1,"inputs":[{"name":"main","types":[{"name":"moment","type":"datetime"}]}],
  "steps":[{"op":"select","cols":["moment"]},{"op":"limit","n":1}]}' > utc.json
dtx run utc.json "$FIX/parquet/types.parquet" --to csv

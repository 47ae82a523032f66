. "$LIB"
# Inputs kept in the store answer for files that are gone, until they are forgotten; a store moves away whole.
short() { sed -E 's/run [0-9a-f]{8}/run ID/; s/^(replay +)[0-9a-f]{8} as [0-9a-f]{8}/\1ID as ID/; s/dtx1:([0-9]+):[0-9a-f]{64}/dtx1:\1:HASH/' | sed "s|$PWD|DIR|"; }
printf 'k,v\na,1\nb,2\na,3\n' > in.csv
printf '{"dtx":1,"steps":[{"op":"group_by","by":["k"],"agg":{"s":"sum(v)"}}]}' > p.json
dtx run p.json in.csv -o out.csv -q --snapshot-inputs
dtx run p.json - --from csv -o piped.csv -q --snapshot-inputs < in.csv
dtx provenance out.csv | grep -o 'file unchanged, bytes kept'
rm in.csv
dtx why out.csv --row 1 --col s | short
dtx why piped.csv --row 1 --col s | grep cells
dtx why-not out.csv L3 | short
dtx replay out.csv | short
dtx replay piped.csv | short
dtx store forget out.csv | sed -E 's#[0-9]+ bytes#N bytes#g; s#( [0-9a-f]{8},?)+;# IDS;#'
dtx replay out.csv 2>&1 | short || true
dtx why out.csv --row 1 --col s 2>&1 | short || true
dtx store check | short
cp out.csv renamed.csv && dtx provenance renamed.csv | grep note
dtx store archive away.db | short
dtx store archive away.db 2>&1 | short || true
ln -s "$(dtx store path)" link.db && dtx store archive linked.db --store link.db | short
test -L link.db && test ! -L linked.db && dtx store check --store linked.db | short
for db in link.db linked.db; do od -An -tu1 -j18 -N1 $db; done # 2: it has a log
dtx store archive away.db --store link.db 2>&1 | short || true
od -An -tu1 -j18 -N1 link.db
dtx provenance log | wc -l
dtx provenance log --store away.db | wc -l
dtx store check --store away.db | short
dtx store check | short
for bad in "forget" "archive" "check x" "forget nothing.csv"; do dtx store $bad || echo "exit $?"; done

cat > stream.json <<'J'
{"dtx":1,"inputs":[{"name":"main","format":"csv","stream":true,"dialect":{"delimiter":","},"types":{"k":"text","v":"int"}}],"steps":[{"op":"filter","where":"v > 0"}]}
J
printf 'k,v\na,1\n' | dtx run stream.json - -o s.csv --snapshot-inputs || echo "exit $?"
truncate -s 257M big.csv
dtx run p.json big.csv -o big.out.csv --snapshot-inputs || echo "exit $?"

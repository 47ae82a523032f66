. "$LIB"
ids() { sed -E 's/[0-9a-f]{8} as [0-9a-f]{8}/ID as ID/; s/(sha256 )[0-9a-f]{8}/\1HASH/; s/(run |snippet )[0-9a-f]{8}/\1ID/g; s/^environment.*/environment/'; }
cp "$FIX/xlsx/weeks.xlsx" "$FIX/plans/balance.json" "$FIX/snippets/balance.txt" .
dtx run balance.json weeks.xlsx --snippet balance.txt -o out.csv
rm balance.txt
dtx replay out.csv | ids
dtx provenance log --limit 1 | cut -c 1-8 > id
dtx provenance $(cat id) | grep -A 1 '^how' | plain
# without a jail nothing runs
DTX_JAIL=exec:false "$DTX" replay out.csv 2> err.txt || echo "exit $?"
ids < err.txt | head -1
# what was purged since cannot run; the record still says what it was
sed 's/^def transform/# another one\n&/' "$FIX/snippets/balance.txt" > other.txt
cp "$DTX_STORE" kept.db; cp "$DTX_STORE-wal" kept.db-wal
dtx run balance.json weeks.xlsx --snippet other.txt -o other.csv --store kept.db
dtx store forget out.csv --store kept.db | grep -o '^ *code *1 body'
dtx replay out.csv --store kept.db 2> err.txt || echo "exit $?"
ids < err.txt
"$DTX" snippet approve "$(dtx snippet list --store kept.db --state superseded | cut -c1-8)" --store kept.db 2> err.txt || echo "exit $?"
sed -E 's/hash [0-9a-f]*/hash H/' err.txt
dtx verify out.csv --store kept.db > text && cut -c 1-46 text | head -1
dtx provenance out.csv --store kept.db | grep -c '^how'
# what was revoked since stays refused
dtx snippet list | cut -c 1-8 > cell
dtx snippet revoke $(cat cell) > /dev/null
dtx replay out.csv 2> err.txt || echo "exit $?"
ids < err.txt | head -1
dtx verify | cut -c 1-30
# the same bytes bring purged code back
dtx run balance.json weeks.xlsx --snippet "$FIX/snippets/balance.txt" -o again.csv --store kept.db
dtx replay out.csv --store kept.db | ids
dtx run balance.json weeks.xlsx -o cached.csv --store kept.db && cmp cached.csv out.csv && echo "runs from the cache"

. "$LIB"
ids() { sed -E 's/[0-9a-f]{8} as [0-9a-f]{8}/ID as ID/; s/(sha256 )[0-9a-f]{8}/\1HASH/; s/(run |snippet )[0-9a-f]{8}/\1ID/g; s/^environment.*/environment/'; }
cp "$FIX/xlsx/weeks.xlsx" "$FIX/plans/balance.json" "$FIX/snippets/balance.txt" .
dtx run balance.json weeks.xlsx --snippet balance.txt -o out.csv
rm balance.txt
dtx replay out.csv | ids
dtx provenance log --limit 1 | cut -c 1-8 > id
dtx provenance $(cat id) | grep -A 1 '^how' | plain
# what was revoked since stays refused
dtx snippet list | cut -c 1-8 > cell
dtx snippet revoke $(cat cell) > /dev/null
dtx replay out.csv 2> err.txt || echo "exit $?"
ids < err.txt | head -1
dtx verify | cut -c 1-30

# a large input is known by its fs-verity digest, a smaller one by its SHA-256; both are what other programs print
. "$LIB"
command -v fsverity > /dev/null || { echo "SKIP fsverity is not installed"; exit; }
export DTX_INPUT_SETTLE=never
echo '[{"op":"group_by","by":["k"],"agg":{"n":"max(t)"}}]' > plan.json
{ echo 'k,t'; yes 'a,some text' 2>/dev/null | head -n 800000; } > big.csv
printf 'k,t\na,x\n' > small.csv
[ "$(stat -c %s big.csv)" -ge 8388608 ] || echo 'not large'
verity() { fsverity digest --compact "$1"; }
plain_sha() { sha256sum < "$1" | cut -d' ' -f1; }
sha() { dtx provenance out.csv --json | sed -n '/"inputs"/,/"outputs"/s/^ *"sha": *"\([^"]*\)".*/\1/p' | head -1; }
go() { dtx run -q plan.json "$@" -o out.csv || echo "exit $?"; }
is() { [ "$(sha)" = "$2" ] && echo "$1: right" || echo "$1: $(sha), not $2"; }
go big.csv; is large "fsverity:$(verity big.csv)"
first=$(dtx provenance out.csv --json | sed -n 's/.*"run_id": *"\([^"]*\)".*/\1/p' | head -1)
dtx provenance out.csv | grep '^from' | sed "s/$(verity big.csv | cut -c1-8)/DIGEST/"
dtx provenance out.csv --cite n | grep -c "big.csv (fsverity $(verity big.csv | cut -c1-8))"
dtx provenance out.csv --prov | grep -c "\"dtx:fsverity\": *\"$(verity big.csv)\""
dtx provenance out.csv --openlineage | grep -c "\"datasetVersion\": *\"fsverity:$(verity big.csv)\""
go small.csv; is small "$(plain_sha small.csv)"
go small.csv --input-hash fsverity; is 'small, asked for' "fsverity:$(verity small.csv)"
go big.csv --input-hash fsverity --threads 1; is 'large, one thread' "fsverity:$(verity big.csv)"
go - --input-hash fsverity < small.csv; is piped "fsverity:$(verity small.csv)"
sed 's/^\[/{"dtx":1,"inputs":[{"name":"main","stream":true,"format":"csv","dialect":{"delimiter":","},"types":{"k":"text","t":"text"}}],"steps":[/; s/$/}/' plan.json > stream.json
cat small.csv | dtx run -q stream.json - -o out.csv --input-hash fsverity; is passing "fsverity:$(verity small.csv)"
DTX_INPUT_HASH=md5 dtx run -q plan.json big.csv -o out.csv 2>&1 || echo "exit $?"
DTX_INPUT_HASH=sha256 go big.csv; is 'as the setting says' "$(plain_sha big.csv)"
# two kinds of the same file are no difference
dtx provenance diff "$first" out.csv | grep '^inputs' || echo 'same inputs'
dtx replay "$first" --into again > /dev/null && echo replayed
dtx why out.csv --row 1 --col n | grep -c 'big.csv'
# one byte
printf 'b' | dd of=big.csv bs=1 seek=6000000 conv=notrunc 2> /dev/null
dtx provenance "$first" | grep '^from' | grep -c 'file changed'
dtx replay "$first" --into again > /dev/null 2>&1 || echo "exit $?"
dtx provenance diff "$first" out.csv | grep -A3 '^inputs' | sed -E 's/(sha256|fsverity) [0-9a-f]{8}/\1 DIGEST/g'

# who started a run: DTX_PARENT_RUN and the W3C's TRACEPARENT, what is neither is not taken
. "$LIB"
printf 'a\n1\n' > in.csv
echo '{"dtx":1,"steps":[{"op":"derive","set":{"b":"a + 1"}}]}' > plan.json
id=01234567-89ab-7def-8123-456789abcdef
trace=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
DTX_PARENT_RUN=$id TRACEPARENT=$trace dtx run -q plan.json in.csv -o out.csv
dtx provenance --json | grep -o '"parent": *[^,]*'
dtx provenance --openlineage | grep -c "\"runId\": *\"$id\""
grep -c "$trace" "$DTX_STORE" "$DTX_STORE-wal" 2> /dev/null | grep -c ':[1-9]'
DTX_PARENT_RUN="$id\"" TRACEPARENT=up dtx run -q plan.json in.csv -o out.csv
dtx provenance --json | grep -o '"parent": *[^,]*' || echo none

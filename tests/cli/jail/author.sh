. "$LIB"
cp "$FIX/xlsx/weeks.xlsx" "$FIX/snippets/balance.txt" "$FIX/plans/balance.json" .
export DTX_AUTHOR_KEY=canary-0123456789 XDG_CONFIG_HOME="$PWD/config"
echo '# asked once; it waits for approval'
dtx run balance.json weeks.xlsx --author 'cat > prompt.txt; cat balance.txt; echo "key: $DTX_AUTHOR_KEY" >&2
	echo "{\"model\":\"tiny\",\"input_tokens\":900,\"output_tokens\":200,\"cost\":0.0125}" >&3' \
	--cassette tape --cassette-record -o out.csv 2>&1 | plain
dtx prompt balance.json weeks.xlsx | cmp - prompt.txt && echo "the very prompt"
id=$(dtx snippet list | cut -c1-8)
dtx snippet show "$id" | grep -E '^(state|op|origin)'
dtx snippet approve "$id" --note "read it"
echo '# again: no new prompt'
dtx run balance.json weeks.xlsx --author 'touch asked; false' -o out.csv && head -2 out.csv
ls asked 2> /dev/null || echo "nobody was asked"
echo '# another store: the recorded answer, approved by policy'
dtx run balance.json weeks.xlsx --cassette tape --approve auto --store other.db -o again.csv && cmp out.csv again.csv
dtx provenance again.csv --store other.db | plain | grep -E '^(disclosed)'
echo '# the key is nowhere'
grep -l canary-0123456789 "$DTX_STORE"* tape/* out.csv prompt.txt || echo "not found"
echo '# who is asked: the option wins over the configuration, the cache over both'
mkdir -p config/dtx
echo '{"author": "exit 9", "max_attempts": 1, "privacy": {"deny": ["plan*"]}}' > config/dtx/config.json
dtx run balance.json weeks.xlsx --store third.db 2>&1 | plain
dtx run balance.json weeks.xlsx --store third.db --cache-only 2>&1 | head -1
dtx run balance.json weeks.xlsx --store third.db --author 'cat > denied.txt; echo nothing' 2>&1 | plain
grep -c planned denied.txt
echo '# two at once: one asks'
both='echo asked >> calls; cat balance.txt'
dtx run balance.json weeks.xlsx --store both.db --approve auto --author "$both" -o one.csv 2> one.err &
dtx run balance.json weeks.xlsx --store both.db --approve auto --author "$both" -o two.csv 2> two.err || cat two.err
wait $! || cat one.err
cmp one.csv two.csv && cat calls
echo '# usage'
dtx run balance.json weeks.xlsx --author-url http://example.com/v1 2>&1 | head -1
dtx run balance.json weeks.xlsx --author-url https://example.com/v1 2>&1 | head -1
dtx run balance.json weeks.xlsx --author x --author-url https://example.com/v1 --author-model m 2>&1 | head -1
dtx run balance.json weeks.xlsx --max-attempts 9 2>&1 | head -1
dtx run balance.json weeks.xlsx --store none.db --author-key-env sk-canary-0123456789 2>&1 | head -1
grep -l sk-canary none.db* 2> /dev/null || echo "not found"
DTX_CACHE_ONLY=yes dtx run balance.json weeks.xlsx --store third.db --retry-author 2>&1 | head -1
dtx run balance.json weeks.xlsx --store tiny.db --max-cost 1e-9 --max-attempts 2 --author 'echo nothing; echo "{\"cost\":1}" >&3' 2>&1 | tail -1
echo "== what they cost"
dtx provenance stats | grep -A 3 '^author'

. "$LIB"
head() { sed -E 's/dtx1:([0-9]+):[0-9a-f]{64}/dtx1:\1:HASH/'; }
dtx store path
dtx store check || echo "exit $?"
printf 'k\na\n' > in.csv
dtx convert in.csv out.csv
dtx convert in.csv out.json
dtx store check | head
dtx store rebuild
dtx store gc --older-than 0d --keep-last 0 | sed 's/[0-9]* bytes/N bytes/g'
dtx store gc --older-than 0d | sed 's/[0-9]* bytes/N bytes/g'
dtx store gc --older-than 0d --keep-last 0 --apply | sed 's/[0-9]* bytes/N bytes/g'
dtx store check | head
for bad in "gc --kinds plan" "gc --older-than soon" "gc --keep-last x" "chek" \
	"archive a.db --dry-run" "rebuild --dry-run" "forget --kinds input --older-than 1d" "check --apply"; do dtx store $bad || echo "exit $?"; done
echo "== forgetting tells who else loses something, also before"
hide() { sed -E 's/[0-9a-f]{8};/ID;/; s/[0-9]+ bytes/N bytes/g'; }
long=$(printf 'n%.0s' $(seq 246)).csv
printf 'k,v\na,1\nb,2\n' > "$long"
cp "$long" short.csv
echo '{"dtx": 1, "steps": [{"op": "filter", "where": "v > 1"}]}' > one.json
echo '{"dtx": 1, "steps": [{"op": "limit", "n": 1}]}' > two.json
dtx run one.json "$long" -o one.csv --snapshot-inputs
dtx run two.json short.csv -o two.csv --snapshot-inputs
rm "$long"
dtx why one.csv --row 1 --col v | sed -E 's/n{20,}/LONG/; s/run [0-9a-f]{8}/run ID/'
dtx store forget two.csv --dry-run | hide
dtx provenance forget two.csv | hide
dtx replay one.csv 2> replay.txt || echo "exit $?"
dtx provenance gc --dry-run --older-than 0d --keep-last 0 | hide
dtx provenance cells
dtx diff one.csv two.csv | sed -nE '1s/[0-9a-f]{8}/ID/gp'
dtx provenance one.csv --prompt || echo "exit $?"
dtx run one.json short.csv -o three.csv --store off || echo "exit $?"
test ! -e off
echo "== what all runs have kept of one kind"
dtx run one.json short.csv -o four.csv --snapshot-inputs
dtx store forget || echo "exit $?"
dtx store forget --prompts --kinds input || echo "exit $?"
dtx store gc --snapshots || echo "exit $?"
dtx store forget --prompts | hide
dtx store forget --snapshots --dry-run | hide
dtx provenance forget --snapshots | hide
dtx store forget --snapshots | hide
dtx store check | head

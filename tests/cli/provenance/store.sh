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
for bad in "gc --kinds plan" "gc --older-than soon" "gc --keep-last x" "chek"; do dtx store $bad || echo "exit $?"; done

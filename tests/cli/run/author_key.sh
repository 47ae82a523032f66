. "$LIB"
# The key is not where other programs of the user look for it, while an author is at work.
printf 'k,v\na,1\n' > in.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv"}],"steps":[{"op":"frobnicate"}]}' > plan.json
cat > author.sh <<'X'
cat > /dev/null
pid=$PPID
# Where nobody may look into the process (a container without ptrace) the key is not seen either.
{ readlink /proc/$pid/exe || echo dtx; } 2> /dev/null | grep -c dtx >> seen
grep -c canary /proc/$pid/environ >> seen 2> /dev/null || [ $? = 1 ] || echo 0 >> seen
echo "of its own: $KEPT" >> seen
env | grep -c canary >> seen
exit 1
X
export DTX_AUTHOR_KEY=canary-0123456789 OTHER_KEY=canary-9876543210 KEPT=kept
dtx run plan.json --author 'exec sh author.sh' -o - > /dev/null 2>&1 || echo "exit $?"
cat seen

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

# A run that asks no author has the key as well. The files of a process that others may not read
# belong to root in /proc.
if [ "$(id -u)" = 0 ]; then
	as_user() { exec setpriv --reuid 54322 --regid 54322 --clear-groups -- "$@"; }
else
	as_user() { exec "$@"; }
fi
chmod 755 .
mkfifo -m 666 wait.csv
(as_user "$DTX" --version > version 2>&1) || { echo "of a typed run: root"; exit 0; } # that user cannot reach dtx
(as_user "$DTX" convert wait.csv --to csv > /dev/null 2>&1) &
pid=$! owner=
for i in $(seq 600); do
	case $(readlink /proc/$pid/exe) in */dtx) owner=$(stat -c %U /proc/$pid/environ) ;; esac
	[ "$owner" = root ] && break
	sleep 0.1
done
echo "of a typed run: $owner"
kill $pid
wait $pid 2> /dev/null || :

. "$LIB"
# parts of the manual as text, no line wider than a terminal
for topic in plan functions codes config tutorial cluster; do
	dtx help $topic > text
	head -4 text
	awk 'length > 80' text | wc -l
done
dtx help nosuch || echo "exit $?"
dtx run --help | awk 'length > 80' | wc -l
dtx run --help | grep -c -- '--jail-wall ' || true
dtx run --help-all | grep -c -- '--jail-wall ' || true
dtx ops | head -3

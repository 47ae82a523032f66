. "$LIB"
# on a terminal a table is cut to the screen, coloured, and shown whole by a pager; binary formats are refused
command -v script > /dev/null || skip "script is not installed (bsdutils)"
awk 'BEGIN {
	printf "id,name"; for (c = 0; c < 8; c++) printf ",value %d", c; print ""
	for (r = 0; r < 1500; r++) {
		printf "%d,%s", r, r == 2 ? "\033[8m\342\200\256hidden" : "somebody with a name that is long " r
		for (c = 0; c < 8; c++) printf ",%s", (r + c) % 5 ? (r * c) % 97 : ""
		print ""
	}
}' > wide.csv
head -3 wide.csv | cut -d, -f1,3,4 > small.csv
cat > do.sh <<'EOF'
stty cols 72 rows 14
show() { echo "== $*"; "$DTX" "$@"; }
export NO_COLOR=1
show convert wide.csv
show convert small.csv
stty cols 20
show convert wide.csv
show convert small.csv --to text
stty cols 72
head -4 wide.csv | cut -d, -f1,2 > hidden.csv
show convert hidden.csv --to csv
show convert hidden.csv --to md
show inspect wide.csv
show convert wide.csv --to xlsx || echo "exit $?"
unset NO_COLOR
show convert small.csv
TERM=dumb show convert small.csv
export PAGER='cat > paged'
show convert wide.csv --pager
show inspect wide.csv --pager
printf 'a,b,c,d,e,f,g,h,i\n1,2,3,4,5,6,7,8,9\n' > nine.csv
show inspect nine.csv
DTX_PAGER='wc -l' show convert wide.csv --pager
EOF
TERM=xterm LINES= COLUMNS= script -qec "sh do.sh" /dev/null < /dev/null | tr -d '\r' | sed 's/\x1b/ESC/g'
wc -l < paged
# in a pipe nothing is cut, and bytes stay as they are
dtx convert hidden.csv --to csv | cmp - hidden.csv
dtx convert wide.csv --pager | wc -l

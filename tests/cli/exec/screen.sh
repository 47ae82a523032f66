. "$LIB"
# A program's output is escaped on a terminal, on which it could act; a pipe gets the bytes.
command -v script > /dev/null || skip "script is not installed (bsdutils)"
e=$(printf '\033') b=$(printf '\342\200\256')
cat > prog.py <<EOF
import sys
sys.stdout.buffer.write(b"\x1b[8mone\xe2\x80\xae\xff\r\ntwo\x9b\n")
print("\x1b]0;title", file=sys.stderr)
1 / 0  # $b
EOF
steers() { LC_ALL=C grep -c -e "$e" -e "$b" || true; }
dtx exec prog.py > out.txt 2> err.txt || echo "exit $?"
steers < out.txt
steers < err.txt
TERM=xterm script -qec "$DTX exec prog.py" /dev/null < /dev/null | tr -d '\r'

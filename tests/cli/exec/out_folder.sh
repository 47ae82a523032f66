# What stands in the folder of --out already, folders that are made, and some that cannot be.
mkdir -p res/d && ln -s . res/link
write() { # FILE IN /out, DIR
	"$DTX" exec -c 'import os, sys
os.makedirs("/out/link", exist_ok=True)
open("/out/" + sys.argv[1], "w").write("1")' --out "$2" -- "$1" || echo "exit $?"
}
write f res && cat res/f && echo
write g new/sub/ && cat new/sub/g && echo
write link/f res
write d res
write f /proc/nosuch
write f "$(printf '%08200d' 0)"
write "$(printf 'a\342\200\213b')" res
write .hidden res
find res | sort

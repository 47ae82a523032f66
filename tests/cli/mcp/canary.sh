. "$LIB"
/usr/bin/python3 -B "${0%.sh}.py"

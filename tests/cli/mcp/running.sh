. "$LIB"
needs_namespaces
/usr/bin/python3 -B "${0%.sh}.py"

. "$LIB"
needs_namespaces
at=${DTX_PEERS:-/nowhere}/node_modules
for name in .bin/node @modelcontextprotocol/sdk @modelcontextprotocol/inspector-cli @modelcontextprotocol/conformance; do
	[ -e "$at/$name" ] || skip "DTX_PEERS names no folder with npm's packages for it, see peers.py"
done
/usr/bin/python3 -B "${0%.sh}.py"

#!/bin/sh
# Prints a C table of the files that the jail's Python runs (sandbox/guest), so that dtx needs no files
# of its own at run time.  Modules are also included as compiled code, which starts faster.
set -eu

echo "/* Generated from sandbox/guest. */"
echo "#include \"sandbox/guest.h\""
exec /usr/bin/python3 -I -B -c '
import hashlib, marshal, sys

def c_bytes(name, data):
    print("static const unsigned char %s[] = {" % name)
    for at in range(0, len(data), 16):
        print("".join("0x%02x," % b for b in data[at:at + 16]))
    print("0 };")

table, abi = [], hashlib.sha256()
for path in sys.argv[1:]:
    name = path.replace("sandbox/guest/", "", 1).replace("dx/", "", 1)
    with open(path, "rb") as f:
        text = f.read()
    table.append((name, text))
    if name.endswith(".py") and "/" not in name:
        code = compile(text, "<dtx>/" + name, "exec", dont_inherit=True, optimize=0)
        table.append((name + "c", marshal.dumps(code)))
    # The modules that a snippet may use.  Their hash is in the key of cached snippets, so a change
    # of them makes cached snippets invalid.
    if name.startswith("dx") or name == "screen.py":
        abi.update(text)
for i, (name, data) in enumerate(table):
    c_bytes("guest_%d" % i, data)
print("const struct dtx_guest_file dtx_guest_files[] = {")
for i, (name, data) in enumerate(table):
    print("\t{ \"%s\", (const char *)guest_%d, sizeof(guest_%d) - 1 }," % (name, i, i))
print("\t{ NULL, NULL, 0 }\n};")
print("const char dtx_guest_abi[] = \"%s\";" % abi.hexdigest()[:8])
print("const char dtx_guest_python[] = \"%s\";"
      % sys.version.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n"))
' "$@"

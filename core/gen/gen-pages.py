"""Prints the manual pages that are written by hand as C, so that `dtx help` can show them where no
man is.  Arguments: the pages."""
import pathlib
import sys

print("/* Generated from man. */\n#include \"cli/help/help.h\"")
pages = [pathlib.Path(path) for path in sys.argv[1:]]
for i, page in enumerate(pages):
    data = page.read_bytes()
    print("static const char page_%d[] = {" % i)
    for at in range(0, len(data), 16):
        print("".join("%d," % b for b in data[at:at + 16]))
    print("0 };")
print("const struct dtx_help_page dtx_help_pages[] = {")
for i, page in enumerate(pages):
    print("\t{ \"%s\", page_%d }," % (page.name, i))
print("\t{ NULL, NULL }\n};")

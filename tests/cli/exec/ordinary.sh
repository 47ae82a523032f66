# What colleagues and language models write runs in the jail as it does outside.
. "$LIB"
needs_module scipy
needs_module matplotlib
"$DTX" exec "$FIX/../tests/jail/programs.py" --file programs.txt="$FIX/../tests/jail/programs.txt" --jail-wall 120 --jail-cpu 120 -o res > out 2> said || echo "exit $?"
grep '^#' said || sed -n 's/^\([0-9]* of [0-9]* programs run\).*/\1/p' said
ls res
# a folder that is a root stays, and so do the files when one figure cannot be saved
"$DTX" exec -o left -c '
import os
import matplotlib.pyplot as plt
for path in ("/out", "/tmp", "/in", "/"):
    try:
        os.rmdir(path)
    except OSError as error:
        print(path, error.strerror)
os.mkdir("/out/empty")
os.rmdir("/out/empty")
open("/out/kept.txt", "w").write("x")
plt.figure().text(0, 0, "$\\broken{$", parse_math=True)
plt.figure().text(0, 0, "fine")' 2> said || echo "exit $?"
grep -c '^ValueError' said
ls left

. "$LIB"
# Approval by the person at the terminal; the terminal is made here.
cp "$FIX/xlsx/weeks.xlsx" "$FIX/snippets/balance.txt" "$FIX/plans/balance.json" .
cat > terminal.py << 'END'
import os, pty, re, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], ["dtx", "run", "balance.json", "weeks.xlsx", "--author", (sys.argv[3:] or ["cat balance.txt"])[0],
                           "-o", "out.csv"])
text, said = b"", False
while True:
    try:
        more = os.read(fd, 4096)
    except OSError:
        break
    if not more:
        break
    text += more
    if not said and b"[y/N]" in text:
        os.write(fd, sys.argv[1].encode() + b"\n")
        said = True
text = text.decode().replace("\r", "")
print(*re.findall(r"^  (?:from|flags|result|checks|disclosed) .*", text, re.M), sep="\n")
print("a note continues the progress line:", bool(re.search(r"[^\n\x1b]dtx: asking", text.replace("\x1b[K", "\x1b"))))
print("asked", "[y/N]" in text, "code shown", "def transform" in text)
print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
/usr/bin/python3 terminal.py no "$DTX"
ls out.csv 2> /dev/null || echo "no output"
echo '# two answers without code'
DTX_STORE=$PWD/other.db /usr/bin/python3 terminal.py no "$DTX" 'sleep 1; echo sorry'
echo '# it waits; the next run asks the person, not the author'
/usr/bin/python3 terminal.py yes "$DTX"
head -2 out.csv
dtx snippet show "$(dtx snippet list | cut -c1-8)" | grep -E '^(state|by) ' | sed "s/ $(id -un)\$/ ME/"
